/** Maximum number of images per text (section 8 of the platform document). */
export const MAX_IMAGES = 4;

/** The platform interprets 5 MB the same way. */
const MAX_BYTES = 5 * 1024 * 1024;

/** Allowed types (section 4 of the platform document). */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"];

/** @param room maximum number of images to accept */
export function sift(files: readonly File[], room: number): { taken: File[]; refused: string[] } {
  const refused = files.flatMap((file) => {
    const reason = rejectionReason(file);
    return reason === undefined ? [] : [`${file.name}: ${reason}`];
  });
  const fitting = files.filter((file) => rejectionReason(file) === undefined);
  if (fitting.length > room) {
    const names = fitting.slice(room).map(({ name }) => name);
    refused.push(`At most ${MAX_IMAGES} images per message. Not added: ${names.join(", ")}`);
  }
  return { taken: fitting.slice(0, room), refused };
}

function rejectionReason({ type, size }: File): string | undefined {
  if (!IMAGE_TYPES.includes(type)) {
    return `${type || "a file of an unknown type"} is not an allowed type. Choose a PNG, JPEG, WebP, GIF or AVIF image.`;
  }
  if (size === 0) return "the file is empty.";
  if (size > MAX_BYTES) {
    return `${(size / 1024 / 1024).toFixed(1)} MB is too large. Choose an image of at most 5 MB.`;
  }
  return undefined;
}
