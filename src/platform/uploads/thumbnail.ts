import type { ImageFacts } from "./image.ts";

/** The longer side of a thumbnail, in pixels; smaller images stay as small as they are. */
const MAX_THUMBNAIL_SIDE = 320;

/**
 * Images of more pixels get no thumbnail: decoded, each takes up to 20 bytes, and a few kilobytes can say that they
 * are gigapixels.
 */
const MAX_DECODED_PIXELS = 25_000_000;

/** In seconds. Time limit of the decoder for one image. */
const TIME_LIMIT_S = 5;

/**
 * Makes the small preview of an image: WebP, upright, of the first picture of a moving one, without metadata.
 * Undefined where none can be made.
 */
export type MakeThumbnail = (
  bytes: Uint8Array,
  facts: ImageFacts,
) => Promise<Uint8Array | undefined>;

/** The used part of `sharp`. Its own types are missing if it is not installed. */
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

/** Opens an image, like the function that sharp exports. */
export type OpenImage = (
  bytes: Uint8Array,
  options: { limitInputPixels: number; failOn: "error" },
) => OpenedImage;

/** The package `sharp` where it is installed; undefined where it is not, or does not run. */
export async function loadSharp(): Promise<OpenImage | undefined> {
  try {
    return (await import("sharp")).default;
  } catch {
    return undefined;
  }
}

/**
 * Makes thumbnails with `sharp`, which is loaded with the first one and works outside of the event loop: one
 * image at a time, so that several large ones do not take their memory at once.
 *
 * @param load is there for tests
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
    // Damage that a browser passes over is passed over here.
    return await open(bytes, { limitInputPixels: MAX_DECODED_PIXELS, failOn: "error" })
      .autoOrient()
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true })
      .webp()
      .timeout({ seconds: TIME_LIMIT_S })
      .toBuffer();
  } catch {
    // The header was right and the pixels are not. Such an image is stored without a preview.
    return undefined;
  }
}
