import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { answer } from "../harness/child.ts";

/** Requests to send: all alike, or those of a list in turn. */
export interface Load {
  /** Origin, `http:` alone. */
  readonly url: string;
  readonly requests: readonly LoadRequest[];
  /** How many requests there are in all; the list begins again as often as needed. */
  readonly count: number;
  /** How many are under way at once, each on a connection of its own that is kept. Default 1. */
  readonly connections?: number;
  /** A new connection for every request. Default false. */
  readonly fresh?: boolean;
}

export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends everything. @returns how long it took, in ms @throws {Error} an answer is not 200 to 299 */
async function run(load: Load): Promise<number> {
  const { url, count, connections = 1, fresh = false } = load;
  const { hostname, port, host } = new URL(url);
  const frames = load.requests.map((request) => frame(request, host));
  const open = () => openSocket(hostname, Number(port));
  let next = 0;
  const worker = async () => {
    let socket = await open();
    while (next < count) {
      const bytes = frames[next % frames.length];
      next += 1;
      if (bytes !== undefined) await exchange(socket, bytes);
      if (!fresh) continue;
      socket.destroy();
      if (next < count) socket = await open();
    }
    socket.destroy();
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  return performance.now() - started;
}

async function openSocket(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, "connect");
  return socket;
}

function frame({ method, path, headers = {}, body = "" }: LoadRequest, host: string): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method !== "GET") lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Sends one request and reads its answer to the end, as much as is needed to know the end. */
function exchange(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let missing = Number.POSITIVE_INFINITY;
    const settle = (error?: Error) => {
      socket.off("data", take).off("error", settle).off("close", closed);
      if (error === undefined) resolve();
      else reject(error);
    };
    const closed = () => settle(new Error("the connection was closed before the answer ended"));
    const take = (chunk: Buffer) => {
      if (missing !== Number.POSITIVE_INFINITY) {
        missing -= chunk.byteLength;
      } else {
        received = received.byteLength === 0 ? chunk : Buffer.concat([received, chunk]);
        const head = received.indexOf("\r\n\r\n");
        if (head === -1) return;
        const text = received.toString("latin1", 0, head);
        const [, length] = /\r\ncontent-length: *(\d+)/i.exec(text) ?? [];
        if (!/^HTTP\/1\.1 2/.test(text) || length === undefined) {
          settle(new Error(`unexpected answer: ${received.toString("utf8").slice(0, 500)}`));
          return;
        }
        missing = Number(length) - (received.byteLength - head - 4);
      }
      if (missing <= 0) settle();
    };
    socket.on("data", take).on("error", settle).on("close", closed);
    socket.write(bytes);
  });
}

const handlers: { readonly run: typeof run } = { run };

export type LoadProcess = typeof handlers;

answer(handlers);
