import sharp from "sharp";
import type { ImageKind } from "../../faces/core.ts";

const made = new Map<ImageKind, Promise<Buffer>>();

export async function image(kind: ImageKind = "png"): Promise<Buffer<ArrayBuffer>> {
  const pixels = sharp({ create: { width: 9, height: 7, channels: 3, background: "teal" } });
  const bytes = made.get(kind) ?? pixels.toFormat(kind).toBuffer();
  made.set(kind, bytes);
  return Buffer.from(await bytes);
}

/** Returns a PNG of exactly this many bytes. Decoders ignore the padding after the PNG's end. */
export async function imageOf(bytes: number): Promise<Buffer<ArrayBuffer>> {
  const whole = Buffer.alloc(bytes);
  (await image()).copy(whole);
  return whole;
}

export function formWith(bytes: Buffer<ArrayBuffer>, name = "file"): FormData {
  const form = new FormData();
  form.append(name, new Blob([bytes]), "image.bin");
  return form;
}
