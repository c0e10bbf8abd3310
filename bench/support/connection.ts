import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * A keep-alive connection to an `http:` origin that sends one request at a time. It sends prepared bytes, and parses a
 * response only to find its end, because a sender must not be slower than the server it measures.
 */
export class Connection {
  readonly #socket: Socket;
  #settle: ((error?: Error) => void) | undefined;
  /** Response head received so far, while it is incomplete. */
  #head: Buffer = EMPTY;
  /** Body bytes still to come. "head" until the head is complete, "chunks" for a chunked body. */
  #missing: number | "head" | "chunks" = 0;
  /** The last bytes received, if the body is chunked. */
  #tail = "";

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () =>
      this.#end(new Error("the connection closed before the response was complete")),
    );
  }

  /** Sends a request. Calls `settle` once the response is complete, with an error unless the status is 2xx. */
  send(bytes: Buffer, settle: (error?: Error) => void): void {
    this.#settle = settle;
    this.#head = EMPTY;
    this.#missing = "head";
    this.#socket.write(bytes);
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #end(error?: Error): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(error);
  }

  #take(chunk: Buffer): void {
    if (this.#missing === "head") this.#takeHead(chunk);
    else if (this.#missing === "chunks") this.#takeTail(chunk);
    else this.#missing -= chunk.byteLength;
    if (this.#missing === 0) this.#end();
  }

  #takeHead(chunk: Buffer): void {
    const received = this.#head.byteLength === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) {
      this.#head = received;
      return;
    }
    const head = received.toString("latin1", 0, end);
    if (!head.startsWith("HTTP/1.1 2")) {
      this.#end(new Error(`unexpected response: ${received.toString("utf8").slice(0, 500)}`));
      return;
    }
    if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
      this.#missing = "chunks";
      this.#takeTail(received);
      return;
    }
    const [, length = "0"] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
    this.#missing = Number(length) - (received.byteLength - end - 4);
  }

  #takeTail(chunk: Buffer): void {
    this.#tail = (
      this.#tail + chunk.toString("latin1", Math.max(0, chunk.byteLength - LAST_CHUNK.length))
    ).slice(-LAST_CHUNK.length);
    if (this.#tail === LAST_CHUNK) this.#missing = 0;
  }
}

const EMPTY = Buffer.alloc(0);
const LAST_CHUNK = "0\r\n\r\n";
