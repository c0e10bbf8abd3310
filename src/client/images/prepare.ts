import type { ImageKind } from "../../core/image-kind.ts";
import { readBytes } from "./read.ts";
import { readImageFile } from "./read-file.ts";
import { type ImageInput, sourceOf } from "./source.ts";

/** An image that is read and checked: ready to be attached, or to be uploaded as often as it takes. */
export type PreparedImage =
  | { readonly key: string }
  | { readonly url: string }
  | { readonly data: Uint8Array<ArrayBuffer>; readonly kind: ImageKind };

/** An image that is not uploaded yet. */
export type Unsent = Exclude<PreparedImage, { readonly key: string }>;

/**
 * Reads and checks an image; sends nothing. Whatever is wrong with it is known after this.
 *
 * @throws {ApiError} BLOCKED_HOST, TOO_LARGE, VALIDATION; {ServiceBotError} INVALID_OPTION where it cannot be read
 * @throws the reason of the signal, or the error of a stream
 */
export async function prepareImage(
  input: ImageInput,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<PreparedImage> {
  signal?.throwIfAborted();
  const source = sourceOf(input);
  if (source.from === "key") return { key: source.key };
  if (source.from === "url") {
    const { checkImageUrl } = await import("./url.ts");
    return { url: checkImageUrl(source.url) };
  }
  if (source.from === "path") {
    const data = await readImageFile(source.path, signal);
    return { data, kind: await kindOf(data, `"${source.path}"`) };
  }
  const data = await readBytes(source.bytes, signal);
  return { data, kind: await kindOf(data) };
}

/** What knows the formats is loaded with the first image: most bots never send one, and all of them start. */
async function kindOf(data: Uint8Array, name?: string): Promise<ImageKind> {
  const { checkImage } = await import("./check.ts");
  return checkImage(data, name);
}

/** Prepares all of them before any is uploaded, one after the other. */
export async function prepareImages(
  inputs: readonly ImageInput[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<PreparedImage[]> {
  const prepared: PreparedImage[] = [];
  for (const input of inputs) prepared.push(await prepareImage(input, options));
  return prepared;
}
