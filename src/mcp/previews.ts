import type { Image } from "../client/types.ts";
import { imageKindOf, mediaTypeOf } from "../core/image-kind.ts";
import { isPublicHost } from "../core/public-host.ts";
import { messageOf } from "../errors.ts";
import { quoted } from "./plain-text.ts";
import type { CallToolResult } from "./sdk.ts";

type Content = CallToolResult["content"][number];

/** So many previews come with a result at most; each costs whoever reads them. */
const MOST = 8;

/** A preview is small; what is larger, in bytes, is not one. */
const MAX_BYTES = 512 * 1024;

/** All previews of a result have so long, in milliseconds. */
const TIME_MS = 5_000;

/**
 * The images of a result, small, to be looked at: `thumbUrl`, or `url` where there is none (section 2). Fetched
 * without the token, from the platform or from the public internet. One that cannot be had is told in words.
 */
export async function previewsOf(
  images: readonly Image[],
  platform: string,
  signal: AbortSignal,
): Promise<Content[]> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(TIME_MS)]);
  const shown = await Promise.all(
    images.slice(0, MOST).map((image) => preview(image, platform, either)),
  );
  signal.throwIfAborted();
  const more = images.length - shown.length;
  const rest: Content[] =
    more > 0 ? [text(`${more} more images are not shown; their addresses are above.`)] : [];
  return [...shown, ...rest];
}

async function preview(image: Image, platform: string, signal: AbortSignal): Promise<Content> {
  const address = image.thumbUrl ?? image.url;
  try {
    const bytes = await download(addressOf(address, platform), signal);
    const kind = imageKindOf(bytes);
    if (kind === undefined) throw new Error("it is no image");
    return { type: "image", data: bytes.toString("base64"), mimeType: mediaTypeOf(kind) };
  } catch (error) {
    const why = signal.aborted ? "it took too long" : messageOf(error);
    return text(`No preview of ${quoted(address)}: ${why}.`);
  }
}

/** @throws {Error} where nothing is fetched from: this machine may reach what others must not see */
function addressOf(address: string, platform: string): URL {
  const url = URL.parse(address, platform);
  if (url === null) throw new Error("its address cannot be read");
  if (url.origin === new URL(platform).origin) return url;
  if (url.protocol === "https:" && isPublicHost(url.hostname)) return url;
  throw new Error("its address is not on the public internet");
}

async function download(url: URL, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal, redirect: "error" });
  if (!response.ok) throw new Error(`the answer was ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function text(words: string): Content {
  return { type: "text", text: words };
}
