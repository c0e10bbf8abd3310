import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

/** A path on a server that unauthenticated clients can reach. */
export interface FloodTarget {
  readonly url: string;
  readonly path: string;
}

/** A body of 5.4 MB in one-byte chunks. Each chunk takes six bytes on the wire. */
const CHUNKS = 5_400_000;
const CHUNKS_AT_ONCE = 100_000;
const chunks = Buffer.from("1\r\nx\r\n".repeat(CHUNKS_AT_ONCE));

/** Starts a POST request without sending its body. */
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

/** Sends a body byte by byte until it is complete or the connection closes. */
export async function sendChunks(target: FloodTarget, head: readonly string[]): Promise<void> {
  const socket = await openRequest(target, [...head, "transfer-encoding: chunked"]);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  for (let sent = 0; sent < CHUNKS && !socket.destroyed; sent += CHUNKS_AT_ONCE) {
    const drained = new Promise((resolve) => socket.once("drain", resolve));
    if (!socket.write(chunks)) await Promise.race([drained, closed]);
  }
}

/** Returns a Linux process's peak memory, in bytes. */
export function peakMemory(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
