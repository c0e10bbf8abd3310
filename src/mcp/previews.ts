import type { Image } from "../client/index.ts";
import type { Fetch } from "../client/transport.ts";
import { readUpTo } from "../core/bounded-read.ts";
import { imageKindOf, mediaTypeOf } from "../core/image-kind.ts";
import { isPublicHost } from "../core/public-host.ts";
import { printable } from "../core/safe-text.ts";
import { messageOf } from "../errors.ts";
import type { CallToolResult } from "./sdk.ts";
import { quote } from "./text.ts";

type Content = CallToolResult["content"][number];

/** Maximum number of previews in a result, because each one costs the model tokens. */
const MAX_PREVIEWS = 8;

const MAX_PREVIEW_BYTES = 512 * 1024;

/** Time limit for all previews in a result, in ms. */
const PREVIEWS_TIMEOUT_MS = 5_000;

interface Downloading {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

/**
 * Downloads thumbnails for a result's images: `thumbUrl`, or `url` if there is none (section 2 of the platform
 * document). Sends no token, and connects only to the platform or public addresses. A sentence replaces each image
 * whose download fails.
 */
export async function previewsOf(
  images: readonly Image[],
  platform: string,
  { fetch, signal }: Downloading,
): Promise<Content[]> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(PREVIEWS_TIMEOUT_MS)]);
  const first = images.slice(0, MAX_PREVIEWS);
  const previews = await Promise.all(
    first.map((image) => preview(image, platform, { fetch, signal: either })),
  );
  signal.throwIfAborted();
  const more = images.length - first.length;
  if (more > 0) previews.push(text(`${more} more images are not shown. Their URLs are above.`));
  return previews;
}

async function preview(image: Image, platform: string, given: Downloading): Promise<Content> {
  const address = image.thumbUrl ?? image.url;
  try {
    const bytes = await download(allowedUrl(address, platform), given);
    const kind = imageKindOf(bytes);
    if (kind === undefined) throw new Error("not an image");
    return { type: "image", data: bytes.toString("base64"), mimeType: mediaTypeOf(kind) };
  } catch (error) {
    const why = given.signal.aborted ? "timeout" : printable(messageOf(error));
    return text(`No preview of ${quote(address)}: ${why}.`);
  }
}

/** @throws {Error} if the address is private, because only this machine could reach it */
function allowedUrl(address: string, platform: string): URL {
  const url = URL.parse(address, platform);
  if (url === null) throw new Error("invalid URL");
  if (url.origin === new URL(platform).origin) return url;
  if (url.protocol === "https:" && isPublicHost(url.hostname)) return url;
  throw new Error("not a public URL");
}

async function download(url: URL, { fetch, signal }: Downloading): Promise<Buffer> {
  const response = await fetch(url.href, { signal, redirect: "error" });
  if (!response.ok) throw new Error(`the status was ${response.status}`);
  const bytes = await readUpTo(response.body, MAX_PREVIEW_BYTES);
  if (bytes === undefined) throw new Error(`larger than ${MAX_PREVIEW_BYTES} bytes`);
  return bytes;
}

function text(words: string): Content {
  return { type: "text", text: words };
}
