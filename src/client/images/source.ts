import { fileURLToPath } from "node:url";
import { messageOf } from "../../errors.ts";
import { fromDataUrl } from "./data-url.ts";
import { refuse } from "./refuse.ts";

/** Bytes, wherever they come from. A stream is read once; its bytes are kept for as long as it is. */
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
 * `{ url }`, `{ path }` and `{ key }` say it without rules. Never pass a string as it came from somebody
 * else: it would name a file of yours.
 */
export type ImageInput =
  | string
  | URL
  | ImageBytes
  | { readonly data: ImageBytes; readonly contentType?: string | undefined }
  | { readonly path: string | URL }
  | { readonly url: string | URL; readonly arrayBuffer?: never }
  | { readonly key: string };

/** An {@link ImageInput} of which it is known what it is. */
export type Source =
  | { readonly from: "key"; readonly key: string }
  | { readonly from: "url"; readonly url: string }
  | { readonly from: "path"; readonly path: string }
  | { readonly from: "bytes"; readonly bytes: ImageBytes };

/** Names that nobody gives to a key; most are refused later, with what to do instead. */
const pictureName = /\.(png|jpe|jpe?g|jfif|webp|gif|avif|heic|heif|svg|bmp|tiff?)$/i;

/** Longer than any path, address or key; what comes by mistake is an image as base64. */
const LONGEST = 8_192;

const EXPECTED =
  "An image is given as bytes, a Blob, a stream, a path, an https address or the key of an upload";

/**
 * Tells what is meant; reads nothing.
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

/** An `Upload` has both, a key and an address: the key is what can be attached. */
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
  if (text.length > LONGEST) {
    const hint = 'base64 is passed as Buffer.from(text, "base64")';
    return refuse(undefined, `${EXPECTED} (got a string of ${text.length} characters; ${hint}).`);
  }
  if (scheme === "file") return { from: "path", path: pathOf(trimmed) };
  // Of the others only https passes, and the check of the address says so.
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

/** By what it can do, not by its class: there are other Blobs and streams than the global ones. */
function isBytes(value: unknown): value is ImageBytes {
  if (typeof value !== "object" || value === null) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true;
  return isBlob(value) || isReadable(value) || Symbol.asyncIterator in value;
}

export function isBlob(value: object): value is Blob {
  return "arrayBuffer" in value && "size" in value && typeof value.size === "number";
}

/** A web stream. */
export function isReadable(value: object): value is ReadableStream<unknown> {
  return "getReader" in value && typeof value.getReader === "function";
}
