import sharp from "sharp";
import type { ImageKind } from "../../faces/core.ts";
import type { Platform } from "../../faces/platform.ts";
import type { Upload } from "../conformance/wire.ts";
import { type Answer, type ErrorBody, request } from "./platform.ts";

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

export function uploadBytes<T = Upload>(
  platform: Platform,
  bytes: Buffer,
  { contentType = "image/png", token }: { contentType?: string; token?: string } = {},
): Promise<Answer<T>> {
  const body = { dataBase64: bytes.toString("base64"), contentType };
  return request<T>(platform, "POST", "/api/v1/uploads", {
    body,
    ...(token === undefined ? {} : { token }),
  });
}

export async function uploadForm<T = Upload & ErrorBody>(
  platform: Platform,
  form: FormData,
): Promise<Answer<T>> {
  const response = await fetch(`${platform.url}/api/v1/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${platform.apiKey}` },
    body: form,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as T,
  };
}

export function formWith(bytes: Buffer<ArrayBuffer>, name = "file"): FormData {
  const form = new FormData();
  form.append(name, new Blob([bytes]), "image.bin");
  return form;
}

export async function newUpload(platform: Platform, token?: string): Promise<Upload> {
  const options = token === undefined ? {} : { token };
  const { status, body } = await uploadBytes(platform, await image(), options);
  if (status !== 200) throw new Error(`the upload got ${status}`);
  return body;
}

export async function newKeys(platform: Platform, count: number): Promise<string[]> {
  const uploads = await Promise.all(Array.from({ length: count }, () => newUpload(platform)));
  return uploads.map(({ key }) => key);
}
