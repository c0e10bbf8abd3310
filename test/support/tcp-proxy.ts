import { once } from "node:events";
import {
  type AddressInfo,
  createConnection,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server that can be broken. It is gone when the test has finished. */
export class TcpProxy {
  readonly port: number;
  readonly #rewrite: (bytes: Buffer) => Buffer;
  readonly #sockets = new Set<Socket>();
  /** How many connections there were. */
  made = 0;
  /** How many of them are over. */
  ended = 0;
  #open = true;
  #frozen = false;
  #hushed = false;

  private constructor(server: Server, target: number, rewrite: (bytes: Buffer) => Buffer) {
    this.#rewrite = rewrite;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (near) => this.#join(near, target));
    onTestFinished(() => {
      this.cut();
      server.close();
    });
  }

  /**
   * @param target the port of a server of this machine
   * @param rewrite what becomes of the server's answers
   */
  static async to(
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
    for (const socket of this.#sockets) socket.pause();
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
        if (socket === near) this.ended += 1;
        if (!this.#frozen) other.destroy();
      });
      if (this.#frozen) socket.pause();
    }
  }
}
