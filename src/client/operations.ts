import type * as z from "../core/zod.ts";
import { ApiError } from "./errors.ts";
import { eitherOf, type Http } from "./http.ts";
import { type PreparedImage, prepareImages, type Unsent, uploadBody } from "./images/prepare.ts";
import { checkContent } from "./images/rules.ts";
import { checkLimit, Listing } from "./listing.ts";
import { check, upload } from "./schemas.ts";
import type { CallOptions, OutgoingMessage, Page, PageOptions, Upload } from "./types.ts";

/** How an image is uploaded. */
export interface UploadOptions extends CallOptions {
  /** How bytes are sent. Default `multipart`; `base64` is JSON, and a third larger. */
  readonly form?: "multipart" | "base64" | undefined;
}

/** Reads what is at a path. */
export async function read<T>(
  http: Http,
  path: string,
  schema: z.ZodType<T>,
  { signal }: CallOptions,
): Promise<T> {
  const { body } = await http.request("GET", path, { signal });
  return check(schema, body, `GET ${path}`);
}

/** Lists with `limit` and `cursor`, as the document shows for conversations and messages. */
export function list<T>(
  http: Http,
  path: () => string,
  page: z.ZodType<Page<T>>,
  { limit, cursor, signal }: PageOptions,
  query: Readonly<Record<string, string | undefined>> = {},
): Listing<T> {
  const request = () => `GET ${path()}`;
  const readPage = async (at: string | undefined) => {
    checkLimit({ limit });
    const { body } = await http.request("GET", path(), {
      signal,
      query: { ...query, limit, cursor: at },
    });
    return check(page, body, request());
  };
  return new Listing(readPage, cursor, request);
}

/**
 * Writes text, images or both (section 4, "Attaching images"): checks, reads and uploads the images, then sends. A key that has
 * expired or was consumed meanwhile (INVALID_IMAGE_KEY) makes all images be uploaded again, once, unless the caller
 * gave a ready key, which may be the invalid one.
 *
 * @throws {ApiError} EMPTY, TOO_MANY_IMAGES and problems of an image, before anything is sent
 */
export async function write<T>(
  http: Http,
  path: string,
  answer: z.ZodType<T>,
  { text, images = [], imageKeys = [] }: OutgoingMessage,
  { signal }: CallOptions,
): Promise<T> {
  checkContent({ text, images, imageKeys });
  const prepared = await http.prepare(signal, (either) => prepareImages(images, either));
  const hasOwnKey = imageKeys.length > 0 || prepared.some((image) => "key" in image);
  const send = async () => {
    const keys = [...imageKeys, ...(await uploadAll(http, prepared, signal))];
    const json = {
      ...(text === undefined ? {} : { text }),
      ...(keys.length === 0 ? {} : { imageKeys: keys }),
    };
    const { body } = await http.request("POST", path, { signal, json });
    return check(answer, body, `POST ${path}`);
  };
  try {
    return await send();
  } catch (error) {
    const isStaleKey = error instanceof ApiError && error.code === "INVALID_IMAGE_KEY";
    if (!isStaleKey || hasOwnKey || prepared.length === 0) throw error;
    return await send();
  }
}

/** Uploads an image in the form that fits it (`POST /uploads`, section 4 of the platform document). */
export async function uploadImage(
  http: Http,
  image: Unsent,
  { signal, form }: UploadOptions,
): Promise<Upload> {
  const { body } = await http.request("POST", "/uploads", { signal, ...uploadBody(image, form) });
  return check(upload, body, "POST /uploads");
}

/** Uploads images side by side, and returns their keys. The first failure aborts the other uploads. */
async function uploadAll(
  http: Http,
  images: readonly PreparedImage[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const failed = new AbortController();
  const either = eitherOf(failed.signal, signal);
  const uploads = images.map(async (image) =>
    "key" in image ? image.key : (await uploadImage(http, image, { signal: either })).key,
  );
  try {
    return await Promise.all(uploads);
  } catch (error) {
    failed.abort(error);
    // No upload is left running.
    await Promise.allSettled(uploads);
    throw error;
  }
}
