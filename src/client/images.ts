import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { isAnyArrayBuffer } from "node:util/types";
import { type ImageKind, imageKindOf, mediaTypeOf } from "../core/image-kind.ts";
import { hasCode, messageOf, type PlatformCode, ServiceBotError, tryRead } from "../errors.ts";
import { apiErrorOf } from "./errors.ts";
import { eitherOf, type Http } from "./http.ts";
import { type ImageInput, type Upload, upload } from "./resources.ts";

/** An image that has been read and checked, ready to be attached or uploaded. */
export type PreparedImage =
  | { readonly key: string }
  | { readonly url: string }
  | { readonly data: Uint8Array<ArrayBuffer>; readonly kind: ImageKind };

export type Unsent = Exclude<PreparedImage, { readonly key: string }>;

/**
 * Maximum size of an image, in bytes. Section 8 of the platform document says "5 MB". The client allows 5 MiB, because
 * the platform may accept images larger than 5,000,000 bytes.
 */
export const MAX_IMAGE_BYTES = 5_242_880;

/** Matches image file names. No key looks like a file name. Unsupported formats are rejected later. */
const pictureName = /\.(png|jpe|jpe?g|jfif|webp|gif|avif|heic|heif|svg|bmp|tiff?)$/i;

/** Maximum length of a path, URL or key, in characters. A longer string is a base64 image. */
const MAX_TEXT = 8_192;

/**
 * Opens a file without blocking, because a FIFO without a writer would block forever. Windows has neither FIFOs nor
 * this flag.
 */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const EXPECTED = "An image must be bytes, a Blob, a path, an https URL or an upload key";

/**
 * Reads and checks an image without sending anything.
 *
 * @throws {ApiError} BLOCKED_HOST, TOO_LARGE, VALIDATION, as the platform would
 * @throws {ServiceBotError} INVALID_OPTION if the image cannot be read
 * @throws the signal's reason
 */
export async function prepareImage(
  input: ImageInput,
  signal?: AbortSignal | undefined,
): Promise<PreparedImage> {
  signal?.throwIfAborted();
  if (typeof input === "string") return await fromText(input);
  if (!isReadable(input)) {
    return invalid(`${EXPECTED} (got ${input === null ? "null" : typeof input}).`);
  }
  if (input instanceof URL) return await fromText(String(input));
  if (ArrayBuffer.isView(input)) {
    return fromBytes(new Uint8Array(input.buffer, input.byteOffset, input.byteLength));
  }
  if (isAnyArrayBuffer(input)) return fromBytes(new Uint8Array(input));
  if (isBlob(input)) {
    checkAtMost(input.size, "The image in the Blob");
    return fromBytes(new Uint8Array(await input.arrayBuffer()));
  }
  return await fromFields(input);
}

/** Returns false for a value that is not an object, and for an object whose fields cannot be read. */
function isReadable(input: unknown): input is object {
  if (typeof input !== "object" || input === null) return false;
  const names = ["key", "path", "url", "size", "arrayBuffer"];
  return tryRead(() => names.map((name) => Reflect.get(input, name))) !== undefined;
}

/** Prepares an image from an object. The key comes first, because only the key of an `Upload` can be attached. */
async function fromFields(input: object): Promise<PreparedImage> {
  if ("key" in input && typeof input.key === "string") return fromKey(input.key);
  if ("arrayBuffer" in input || Symbol.asyncIterator in input) {
    return invalid(`${EXPECTED}. Read a response or a stream first, and pass its bytes.`);
  }
  if ("path" in input && isAddress(input.path)) return await fromFile(String(input.path));
  if ("url" in input && isAddress(input.url)) return fromUrl(String(input.url));
  const names = Object.keys(input).join(", ");
  return invalid(`${EXPECTED} (got an object with ${names === "" ? "no fields" : names}).`);
}

async function fromText(text: string): Promise<PreparedImage> {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (text.length > MAX_TEXT || scheme === "data") {
    const hint = 'for base64 use Buffer.from(text, "base64")';
    return invalid(`${EXPECTED} (got a string of ${text.length} characters; ${hint}).`);
  }
  if (scheme === "file") return await fromFile(trimmed);
  // `C:/images` is a Windows path, not a URL.
  if (scheme === "https" || scheme === "http" || /^[a-z][a-z0-9+.-]+:\/\//i.test(trimmed)) {
    return fromUrl(trimmed);
  }
  const isPath = /[/\\]/.test(text) || text.startsWith("~") || pictureName.test(text);
  return isPath ? await fromFile(text) : fromKey(text);
}

function fromKey(key: string): PreparedImage {
  return key.trim() === "" ? invalid(`${EXPECTED} (got an empty string).`) : { key };
}

/**
 * Accepts only https, as the platform does. Rejects credentials in the URL, because the platform would receive them.
 * The error does not quote the URL.
 */
function fromUrl(address: string): PreparedImage {
  const url = URL.parse(address);
  if (url?.protocol === "https:" && url.username === "" && url.password === "") {
    return { url: url.href };
  }
  return refuse(
    "BLOCKED_HOST",
    "The platform fetches images over https only. Pass a full https:// URL without a username or password.",
  );
}

/** Copies the bytes, so that the bytes sent are the bytes checked, even if the caller changes its buffer. */
function fromBytes(bytes: Uint8Array): PreparedImage {
  const kind = checkImage(bytes, "The image");
  return { data: Uint8Array.from(bytes), kind };
}

async function fromFile(pathOrUrl: string): Promise<PreparedImage> {
  if (pathOrUrl.length > MAX_TEXT) {
    return invalid(`${EXPECTED} (got a path of ${pathOrUrl.length} characters).`);
  }
  const path = pathOf(pathOrUrl);
  try {
    const data = await readWithin(path);
    return { data, kind: checkImage(data, `"${path}"`) };
  } catch (error) {
    if (error instanceof ServiceBotError) throw error;
    return unreadable(path, error);
  }
}

/** Reads a file, but not beyond the size it had when it was opened, because the file may be growing. */
async function readWithin(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path, READ_AT_ONCE);
  try {
    const info = await file.stat();
    if (!info.isFile()) {
      return invalid(`"${path}" is ${info.isDirectory() ? "a folder" : "a device"}, not a file.`);
    }
    checkAtMost(info.size, `"${path}"`);
    // The extra byte detects a growing file.
    const buffer = new Uint8Array(info.size + 1);
    for (let length = 0; ; ) {
      const { bytesRead } = await file.read(buffer, length);
      if (bytesRead === 0) return buffer.subarray(0, length);
      length += bytesRead;
      if (length > info.size) {
        return invalid(
          `"${path}" changed while it was being read. Wait until the file is complete.`,
        );
      }
    }
  } finally {
    await file.close();
  }
}

function pathOf(path: string): string {
  if (!/^file:/i.test(path)) return path;
  try {
    return fileURLToPath(path);
  } catch (cause) {
    return invalid(`"${path}" is not a file URL on this machine: ${messageOf(cause)}.`, { cause });
  }
}

function unreadable(path: string, cause: unknown): never {
  const isMissing = hasCode(cause, "ENOENT");
  const hints = isMissing
    ? " For an upload key, pass { key }." + (path.startsWith("~") ? " Node does not expand ~." : "")
    : "";
  return invalid(`Cannot read the image "${path}": ${reasonOf(cause)}.${hints}`, { cause });
}

function reasonOf(cause: unknown): string {
  if (hasCode(cause, "ENOENT")) return "the file does not exist";
  if (hasCode(cause, "ENXIO")) return "it is not a regular file";
  return messageOf(cause);
}

function isAddress(value: unknown): value is string | URL {
  return typeof value === "string" || tryRead(() => value instanceof URL) === true;
}

/** Checks properties instead of the class, because the global Blob is not the only Blob class. */
function isBlob(value: object): value is Blob {
  return "arrayBuffer" in value && "size" in value && typeof value.size === "number";
}

/**
 * Checks an image's size and format, as `POST /uploads` does. The first bytes determine the format. The platform
 * validates the rest.
 */
function checkImage(bytes: Uint8Array, name: string): ImageKind {
  if (bytes.length === 0) refuse("VALIDATION", `${name} is empty.`);
  checkAtMost(bytes.length, name);
  const kind = imageKindOf(bytes);
  if (kind !== undefined) return kind;
  return refuse("VALIDATION", `${name} is not a PNG, JPEG, WebP, GIF or AVIF image.`);
}

function checkAtMost(bytes: number, name: string): void {
  if (bytes > MAX_IMAGE_BYTES) {
    refuse(
      "TOO_LARGE",
      `${name} is larger than 5 MB (${MAX_IMAGE_BYTES} bytes). Resize or compress the image.`,
    );
  }
}

function refuse(platformCode: PlatformCode, message: string): never {
  throw apiErrorOf(message, { status: 400, platformCode, local: true });
}

function invalid(message: string, options?: ErrorOptions): never {
  throw new ServiceBotError("INVALID_OPTION", message, options);
}

/**
 * Prepares all images, one after another, before the first upload and within one request's deadline.
 *
 * @throws {NetworkError} API_TIMEOUT, with `sent` false
 */
export async function prepareImages(
  http: Http,
  inputs: readonly ImageInput[],
  signal: AbortSignal | undefined,
): Promise<PreparedImage[]> {
  return await http.prepare(signal, async (either) => {
    const prepared: PreparedImage[] = [];
    for (const input of inputs) prepared.push(await prepareImage(input, either));
    return prepared;
  });
}

/** Uploads images in parallel and returns their keys. The first failure aborts the other uploads. */
export async function uploadAll(
  http: Http,
  images: readonly PreparedImage[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const failed = new AbortController();
  const either = eitherOf(failed.signal, signal);
  const uploads = images.map(async (image) =>
    "key" in image ? image.key : (await send(http, image, either)).key,
  );
  try {
    return await Promise.all(uploads);
  } catch (error) {
    failed.abort(error);
    // Wait for the other uploads, so that none of them continues after the error is thrown.
    await Promise.allSettled(uploads);
    throw error;
  }
}

/** @throws {ServiceBotError} INVALID_OPTION if the image cannot be read or is already an upload key */
export async function uploadImage(
  http: Http,
  image: ImageInput,
  signal: AbortSignal | undefined,
): Promise<Upload> {
  const prepared = await http.prepare(signal, (either) => prepareImage(image, either));
  if ("key" in prepared)
    return invalid("The image is already an upload key. Pass it in imageKeys.");
  return await send(http, prepared, signal);
}

/**
 * Uploads an image (`POST /uploads`, section 4 of the platform document). Bytes are sent as multipart, because base64
 * is a third larger.
 */
async function send(http: Http, image: Unsent, signal: AbortSignal | undefined): Promise<Upload> {
  const body = "url" in image ? { json: { url: image.url } } : { form: formOf(image) };
  return (await http.request("POST", "/uploads", upload, { signal, ...body })).value;
}

/** Hides the file's name, which is private and may not match the format. */
function formOf({ data, kind }: Exclude<Unsent, { readonly url: string }>): FormData {
  const form = new FormData();
  const file = new Blob([data], { type: mediaTypeOf(kind) });
  form.set("file", file, `image.${kind === "jpeg" ? "jpg" : kind}`);
  return form;
}
