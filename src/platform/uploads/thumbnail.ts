import type { ImageFacts } from "./image.ts";

/** Maximum length of a thumbnail's side, in pixels. Smaller images keep their size. */
const MAX_THUMBNAIL_SIDE = 320;

/**
 * Larger images get no thumbnail. A decoded pixel takes up to 20 bytes, and a file of a few kilobytes can claim to
 * contain gigapixels.
 */
const MAX_DECODED_PIXELS = 25_000_000;

const TIME_LIMIT_S = 5;

/**
 * Creates a WebP thumbnail: upright, without metadata, from an animation's first frame. Returns `undefined` if the
 * image cannot be decoded.
 */
export type MakeThumbnail = (
  bytes: Uint8Array,
  facts: ImageFacts,
) => Promise<Uint8Array | undefined>;

/**
 * The part of `sharp` that this file uses. Declared here because the package's own types are missing if it is not
 * installed.
 */
interface OpenedImage {
  autoOrient(): OpenedImage;
  resize(to: {
    width: number;
    height: number;
    fit: "inside";
    withoutEnlargement: boolean;
  }): OpenedImage;
  webp(): OpenedImage;
  timeout(limit: { seconds: number }): OpenedImage;
  toBuffer(): Promise<Uint8Array>;
}

export type OpenImage = (
  bytes: Uint8Array,
  options: { limitInputPixels: number; failOn: "error" },
) => OpenedImage;

/** Returns `undefined` if the package is not installed or does not run on this machine. */
export async function loadSharp(): Promise<OpenImage | undefined> {
  try {
    return (await import("sharp")).default;
  } catch {
    return undefined;
  }
}

/**
 * Creates thumbnails with `sharp`, loaded on first use. `sharp` works outside the event loop, on one image at a time to
 * limit memory use.
 *
 * @param load replaced by tests
 */
export function thumbnailsWith(
  load: () => Promise<OpenImage | undefined> = loadSharp,
): MakeThumbnail {
  let loading: Promise<OpenImage | undefined> | undefined;
  let previous: Promise<unknown> = Promise.resolve();
  return async (bytes, { width, height }) => {
    if (width * height > MAX_DECODED_PIXELS) return undefined;
    loading ??= load();
    const open = await loading;
    if (open === undefined) return undefined;
    const made = previous.then(() => shrink(open, bytes));
    previous = made;
    return made;
  };
}

async function shrink(open: OpenImage, bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const side = MAX_THUMBNAIL_SIDE;
  try {
    // Tolerate the same damage as browsers do.
    return await open(bytes, { limitInputPixels: MAX_DECODED_PIXELS, failOn: "error" })
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      .webp()
      .timeout({ seconds: TIME_LIMIT_S })
      .toBuffer();
  } catch {
    // The headers are valid but the pixels are not. The image is stored without a thumbnail.
    return undefined;
  }
}
