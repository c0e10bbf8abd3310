import { Readable } from "node:stream";
import { decodeUtf8 } from "./utf8.ts";

type Body = AsyncIterable<Uint8Array> | null | undefined;

/** Reads a response's body. Resolves to `undefined`, and closes the connection, if it has more than `max` bytes. */
export async function readUpTo(body: Body, max: number): Promise<Buffer | undefined> {
  if (body instanceof Readable) return await readStreamUpTo(body, max);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > max) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Does not iterate, because a stream's iterator takes a tenth of a small request. */
function readStreamUpTo(stream: Readable, max: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const fail = () => reject(stream.errored ?? new Error("the response ended early"));
    // Such a stream emits nothing more.
    if (stream.destroyed) fail();
    stream.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes <= max) {
        chunks.push(chunk);
        return;
      }
      resolve(undefined);
      stream.destroy();
    });
    stream.on("end", () => resolve(Buffer.concat(chunks)));
    stream.on("error", fail);
    stream.on("close", fail);
  });
}

/** Reads a response's body as text. Resolves to "", and closes the connection, if it has more than `max` bytes. */
export async function readTextUpTo(body: Body, max: number): Promise<string> {
  const bytes = await readUpTo(body, max);
  return bytes === undefined ? "" : decodeUtf8(bytes);
}
