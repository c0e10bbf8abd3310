import { once } from "node:events";
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server that can be broken. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #rewrite: (bytes: Buffer) => Buffer;
  readonly #sockets = new Set<Socket>();
  readonly #stale = new Set<Socket>();
  /** How many connections there were. */
  made = 0;
  /** How many of them are over. */
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
   * One that is gone when the test has finished.
   *
   * @param target the port of a server of this machine
   * @param rewrite what becomes of the server's answers
   */
  static async to(target: number, rewrite?: (bytes: Buffer) => Buffer): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(target, rewrite);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  /** One that is there until it is closed. */
  static async open(
    target: number,
    rewrite: (bytes: Buffer) => Buffer = (bytes) => bytes,
  ): Promise<TcpProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpProxy(server, target, rewrite);
  }

  /** Connections end with a reset, and none is made. */
  cut(): void {
    this.#open = false;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Half-open: connections stay, and nothing that is written to them arrives any more. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) {
      socket.pause();
      this.#stale.add(socket);
    }
  }

  /** Both ends of what was frozen are told at last. */
  dropFrozen(): void {
    for (const socket of this.#stale) socket.resetAndDestroy();
    this.#stale.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  /** Half-open the other way: what the server answers does not arrive any more. */
  hush(): void {
    this.#hushed = true;
  }

  /** Connections are made again. Those that were frozen stay so. */
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
