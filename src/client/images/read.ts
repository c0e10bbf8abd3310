import { isAnyArrayBuffer } from "node:util/types";
import { untilAborted } from "./aborted.ts";
import { MAX_IMAGE_BYTES, tooLarge } from "./limits.ts";
import { readStream } from "./read-stream.ts";
import { type ImageBytes, isBlob } from "./source.ts";

/**
 * All bytes of an image, in a copy, so that what was checked is what is sent. Never more than the limit
 * is held.
 *
 * @throws as {@link readStream} does
 */
export async function readBytes(
  bytes: ImageBytes,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (ArrayBuffer.isView(bytes)) {
    if (bytes.byteLength > MAX_IMAGE_BYTES) tooLarge("The image");
    return Uint8Array.from(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  if (isAnyArrayBuffer(bytes)) return readBytes(new Uint8Array(bytes), signal);
  if (!isBlob(bytes)) return readStream(bytes, signal);
  if (bytes.size > MAX_IMAGE_BYTES) tooLarge("The image in the Blob");
  return new Uint8Array(await untilAborted(bytes.arrayBuffer(), signal));
}
