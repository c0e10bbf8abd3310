import { once } from "node:events";
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import { onTestFinished } from "vitest";

/** A TCP proxy whose connections tests can break. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #rewrite: (bytes: Buffer) => Buffer;
  readonly #sockets = new Set<Socket>();
  readonly #stale = new Set<Socket>();
  made = 0;
  ended = 0;
  #open = true;
  #frozen = false;
  #hushed = false;

  private constructor(server: Server, target: number, rewrite: (bytes: Buffer) => Buffer) {
    this.#rewrite = rewrite;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (near) => this.#join(near, target));
  }

  /**
   * Opens a proxy that closes after the test.
   *
   * @param target the server's local port
   * @param rewrite transforms the server's responses
   */
  static async to(target: number, rewrite?: (bytes: Buffer) => Buffer): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(target, rewrite);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  /** Opens a proxy that the caller must close. */
  static async open(
    target: number,
    rewrite: (bytes: Buffer) => Buffer = (bytes) => bytes,
  ): Promise<TcpProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpProxy(server, target, rewrite);
  }

  /** Refuses new connections. */
  refuse(): void {
    this.#open = false;
  }

  /** Resets all connections and refuses new ones. */
  cut(): void {
    this.refuse();
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Makes connections half-open: they stay open, but the server receives no more bytes. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) {
      socket.pause();
      this.#stale.add(socket);
    }
  }

  /** Closes both ends of the frozen connections. */
  dropFrozen(): void {
    for (const socket of this.#stale) socket.resetAndDestroy();
    this.#stale.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  /** Makes connections half-open in the other direction: they stay open, but clients receive no more bytes. */
  hush(): void {
    this.#hushed = true;
  }

  /** Accepts new connections again. Frozen connections stay frozen. */
  mend(): void {
    this.#open = true;
    this.#frozen = false;
    this.#hushed = false;
  }

  #join(near: Socket, target: number): void {
    if (!this.#open) {
      near.resetAndDestroy();
      return;
    }
    this.made += 1;
    const far = createConnection(target, "127.0.0.1");
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      const other = socket === near ? far : near;
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        if (socket === near) far.write(bytes);
        else if (!this.#hushed) near.write(this.#rewrite(bytes));
      });
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.#stale.delete(socket);
        if (socket === near) this.ended += 1;
        if (!this.#frozen) other.destroy();
      });
      if (!this.#frozen) continue;
      socket.pause();
      this.#stale.add(socket);
    }
  }
}
