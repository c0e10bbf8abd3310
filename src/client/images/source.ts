import { fileURLToPath } from "node:url";
import { messageOf } from "../../errors.ts";
import { MAX_IMAGE_BYTES, refuse, tooLarge } from "./rules.ts";

/** Bytes of an image. A stream can be read once. */
export type ImageBytes =
  | ArrayBufferView
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/**
 * An image: its bytes, where they are, or the key of one that is uploaded already.
 *
 * A string is read by these rules, in this order:
 * 1. `https://…` is an address from which the platform fetches it; `http://…` is refused.
 * 2. `data:image/…;base64,…` is the image itself.
 * 3. `file://…`, whatever has a `/` or a `\` in it, begins with `~`, or ends like the name of a file with
 *    a picture (`.png`, `.jpg`, …) is a path.
 * 4. All else is a key.
 *
 * `{ url }`, `{ path }` and `{ key }` say it without rules. Never pass on a string that a
 * user wrote, because it could name a file of yours.
 */
export type ImageInput =
  | string
  | URL
  | ImageBytes
  | { readonly data: ImageBytes; readonly contentType?: string | undefined }
  | { readonly path: string | URL }
  | { readonly url: string | URL; readonly arrayBuffer?: never }
  | { readonly key: string };

/** An {@link ImageInput} whose form is known. */
export type Source =
  | { readonly from: "key"; readonly key: string }
  | { readonly from: "url"; readonly url: string }
  | { readonly from: "path"; readonly path: string }
  | { readonly from: "bytes"; readonly bytes: ImageBytes };

/** File names of pictures, which no key looks like. Kinds that the platform does not take are refused later. */
const pictureName = /\.(png|jpe|jpe?g|jfif|webp|gif|avif|heic|heif|svg|bmp|tiff?)$/i;

/** In characters. Longer than any path, address or key; a longer string is an image as base64. */
const MAX_TEXT = 8_192;

const EXPECTED =
  "An image is given as bytes, a Blob, a stream, a path, an https address or the key of an upload";

/**
 * Finds out the form of an image; reads nothing.
 *
 * @throws {ServiceBotError} INVALID_OPTION; {ApiError} BLOCKED_HOST for an address other than https
 */
export function sourceOf(input: ImageInput): Source {
  if (typeof input === "string") return fromText(input);
  if (input instanceof URL) return fromText(input.href);
  if (isBytes(input)) return { from: "bytes", bytes: input };
  if (typeof input !== "object" || input === null) {
    return refuse(undefined, `${EXPECTED} (got ${input === null ? "null" : typeof input}).`);
  }
  return fromFields(input);
}

/** An `Upload` has a key and an address; the key can be attached. */
function fromFields(input: object): Source {
  if ("key" in input && typeof input.key === "string") return keyOf(input.key);
  if ("data" in input && isBytes(input.data)) return { from: "bytes", bytes: input.data };
  if ("arrayBuffer" in input) {
    return refuse(undefined, `${EXPECTED}. Of a Response or a Request, pass the \`body\`.`);
  }
  if ("path" in input && isAddress(input.path)) return { from: "path", path: pathOf(input.path) };
  if ("url" in input && isAddress(input.url)) return { from: "url", url: String(input.url) };
  const names = Object.keys(input).join(", ");
  return refuse(
    undefined,
    `${EXPECTED} (got an object with ${names === "" ? "no fields" : names}).`,
  );
}

function fromText(text: string): Source {
  const trimmed = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === "data") return { from: "bytes", bytes: fromDataUrl(trimmed) };
  if (text.length > MAX_TEXT) {
    const hint = 'base64 is passed as Buffer.from(text, "base64")';
    return refuse(undefined, `${EXPECTED} (got a string of ${text.length} characters; ${hint}).`);
  }
  if (scheme === "file") return { from: "path", path: pathOf(trimmed) };
  // The check of the address refuses all schemes but https.
  if (scheme === "https" || scheme === "http" || /^[a-z][a-z0-9+.-]+:\/\//i.test(trimmed)) {
    return { from: "url", url: trimmed };
  }
  const isPath = /[/\\]/.test(text) || text.startsWith("~") || pictureName.test(text);
  return isPath ? { from: "path", path: text } : keyOf(text);
}

function keyOf(key: string): Source {
  if (key.trim() === "") return refuse(undefined, `${EXPECTED} (got an empty string).`);
  return { from: "key", key };
}

function pathOf(path: string | URL): string {
  const text = String(path);
  if (!/^file:/i.test(text)) return text;
  try {
    return fileURLToPath(text);
  } catch (cause) {
    return refuse(undefined, `"${text}" names no file here: ${messageOf(cause)}.`, { cause });
  }
}

function isAddress(value: unknown): value is string | URL {
  return typeof value === "string" || value instanceof URL;
}

/** Looks at methods, not at classes, because there are other Blobs and streams than the global ones. */
function isBytes(value: unknown): value is ImageBytes {
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true;
  return isBlob(value) || isWebStream(value) || Symbol.asyncIterator in value;
}

export function isBlob(value: object): value is Blob {
  return "arrayBuffer" in value && "size" in value && typeof value.size === "number";
}

export function isWebStream(value: object): value is ReadableStream<unknown> {
  return "getReader" in value && typeof value.getReader === "function";
}

/**
 * Decodes `data:image/png;base64,…`. Its type is not read, because the bytes decide.
 *
 * @throws {ServiceBotError} INVALID_OPTION for another encoding; {ApiError} TOO_LARGE
 */
export function fromDataUrl(text: string): Uint8Array {
  const comma = text.indexOf(",");
  // Only the short header is matched; the data may be megabytes.
  if (comma < 0 || !/;base64$/i.test(text.slice(0, comma))) {
    return refuse(undefined, "A data: URL with an image has the form data:image/png;base64,….");
  }
  return fromBase64(text.slice(comma + 1), "The data: URL");
}

/**
 * Decodes an image in base64.
 *
 * @param name names the image in messages
 * @throws as {@link fromDataUrl} does
 */
export function fromBase64(base64: string, name: string): Uint8Array {
  if (base64.length > Math.ceil(MAX_IMAGE_BYTES / 3) * 4) return tooLarge(name);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return refuse(undefined, `${name} holds characters that are not base64.`);
  }
  return Buffer.from(base64, "base64");
}
