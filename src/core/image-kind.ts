/** Image formats that the platform accepts (section 4 of the platform document, "POST /uploads"). */
export type ImageKind = "png" | "jpeg" | "webp" | "gif" | "avif";

/** Number of leading bytes that identify an image's format. */
export const KIND_PREFIX_BYTES = 128;

const PNG = "\x89PNG\r\n\x1a\n";

/**
 * Detects an image's format from its first bytes. Returns `undefined` for an unsupported format.
 *
 * @param bytes the image, or its first 128 bytes
 */
export function imageKindOf(bytes: Uint8Array): ImageKind | undefined {
  // Use one character per byte, because signatures are easier to read as text.
  const head = asBuffer(bytes.subarray(0, KIND_PREFIX_BYTES)).toString("latin1");
  if (head.startsWith(PNG)) return "png";
  if (head.startsWith("\xff\xd8\xff")) return "jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "webp";
  return brandsOf(head).some((brand) => brand === "avif" || brand === "avis") ? "avif" : undefined;
}

export function mediaTypeOf<K extends ImageKind>(kind: K): `image/${K}` {
  return `image/${kind}`;
}

/**
 * Returns the brands of an ISO base media file (ISO/IEC 14496-12, 4.3), the major brand first. Empty for other files.
 *
 * @param head the beginning of the file, one character per byte
 */
function brandsOf(head: string): string[] {
  if (!head.startsWith("ftyp", 4)) return [];
  const size = [...head.slice(0, 4)].reduce((sum, byte) => sum * 256 + byte.charCodeAt(0), 0);
  const box = head.slice(0, size);
  // A version number separates the major brand from the compatible brands.
  const compatible = box.slice(16).match(/[\s\S]{4}/g) ?? [];
  return box.length < 12 ? [] : [box.slice(8, 12), ...compatible];
}

/** Returns a Buffer view of the bytes, without a copy. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
