import { decodeUtf8 } from "./utf8.ts";

type Body = AsyncIterable<Uint8Array> | null | undefined;

/** Reads a response's body. Resolves to `undefined`, and closes the connection, if it has more than `max` bytes. */
export async function readUpTo(body: Body, max: number): Promise<Buffer | undefined> {
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

/** Reads a response's body as text. Resolves to "", and closes the connection, if it has more than `max` bytes. */
export async function readTextUpTo(body: Body, max: number): Promise<string> {
  const bytes = await readUpTo(body, max);
  return bytes === undefined ? "" : decodeUtf8(bytes);
}
