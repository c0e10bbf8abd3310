import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

/** A path that unauthenticated clients can reach. */
export interface FloodTarget {
  readonly url: string;
  readonly path: string;
}

/** A body of 5.4 MB in one-byte chunks, each of which takes six bytes on the wire. */
const CHUNKS = 5_400_000;
const CHUNKS_AT_ONCE = 100_000;
const chunks = Buffer.from("1\r\nx\r\n".repeat(CHUNKS_AT_ONCE));

export async function openRequest(
  { url, path }: FloodTarget,
  headers: readonly string[],
): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket
    .resume()
    .write([`POST ${path} HTTP/1.1`, `host: ${host}`, ...headers, "", ""].join("\r\n"));
  return socket;
}

/** Sends a body byte by byte until it is complete or the server closes the connection. */
export async function sendChunks(target: FloodTarget, head: readonly string[]): Promise<void> {
  const socket = await openRequest(target, [...head, "transfer-encoding: chunked"]);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  for (let sent = 0; sent < CHUNKS && !socket.destroyed; sent += CHUNKS_AT_ONCE) {
    const drained = new Promise((resolve) => socket.once("drain", resolve));
    if (!socket.write(chunks)) await Promise.race([drained, closed]);
  }
}

/** Returns a process's peak memory, in bytes. Linux only. */
export function peakMemory(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
