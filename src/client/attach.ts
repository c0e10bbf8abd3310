import { ApiError } from "./errors.ts";
import type { Http } from "./http.ts";
import { checkContent } from "./images/content.ts";
import { type PreparedImage, prepareImages, type Unsent } from "./images/prepare.ts";
import { eitherOf } from "./signals.ts";
import type { OutgoingMessage, Upload } from "./types.ts";

/** The body of a write, as the platform takes it (section 4, "Attaching images"). */
export interface Outgoing {
  readonly text?: string | undefined;
  readonly imageKeys?: readonly string[] | undefined;
}

export interface Writing<T> {
  readonly prepare: Http["prepare"];
  readonly upload: (image: Unsent, signal: AbortSignal) => Promise<Upload>;
  readonly send: (outgoing: Outgoing) => Promise<T>;
  readonly signal: AbortSignal | undefined;
}

/**
 * Uploads the images of a message, side by side, and sends it. Where a key turns out to be of no use any more,
 * for it has expired or was consumed, all are uploaded again, once: unless a ready key is among them, which would
 * be the one.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES and what is wrong with an image, before anything is sent
 */
export async function sendWithImages<T>(
  { text, images = [], imageKeys = [] }: OutgoingMessage,
  { prepare, upload, send, signal }: Writing<T>,
): Promise<T> {
  checkContent({ text, images, imageKeys });
  const prepared = await prepare(signal, (either) => prepareImages(images, { signal: either }));
  const attempt = async () => {
    const keys = [...imageKeys, ...(await keysOf(prepared, upload, signal))];
    return await send({
      ...(text === undefined ? {} : { text }),
      ...(keys.length === 0 ? {} : { imageKeys: keys }),
    });
  };
  try {
    return await attempt();
  } catch (error) {
    const isOurs = imageKeys.length === 0 && prepared.every((image) => !("key" in image));
    if (prepared.length === 0 || !isOurs || !isStaleKey(error)) throw error;
    return await attempt();
  }
}

function isStaleKey(error: unknown): boolean {
  return error instanceof ApiError && error.code === "INVALID_IMAGE_KEY";
}

/** The first failure ends the other uploads. */
async function keysOf(
  prepared: readonly PreparedImage[],
  upload: Writing<unknown>["upload"],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const failed = new AbortController();
  const either = eitherOf(failed.signal, signal);
  const uploads = prepared.map(async (image) =>
    "key" in image ? image.key : (await upload(image, either)).key,
  );
  try {
    return await Promise.all(uploads);
  } catch (error) {
    failed.abort(error);
    // Nothing is left running when this is over.
    await Promise.allSettled(uploads);
    throw error;
  }
}
