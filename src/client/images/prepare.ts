import { asBuffer, type ImageKind, mediaTypeOf } from "../../core/image-kind.ts";
import { readBytes, readImageFile } from "./read.ts";
import { checkImage } from "./rules.ts";
import { type ImageInput, sourceOf } from "./source.ts";

/** An image that is read and checked: ready to be attached, or to be uploaded as often as it takes. */
export type PreparedImage =
  | { readonly key: string }
  | { readonly url: string }
  | { readonly data: Uint8Array<ArrayBuffer>; readonly kind: ImageKind };

/** An image that is not uploaded yet. */
export type Unsent = Exclude<PreparedImage, { readonly key: string }>;

/** The body of `POST /uploads`: JSON, or multipart with the file part `file`. */
export type UploadBody = { readonly json: unknown } | { readonly form: FormData };

/**
 * Reads and checks an image, and sends nothing.
 *
 * @throws {ApiError} BLOCKED_HOST, TOO_LARGE, VALIDATION; {ServiceBotError} INVALID_OPTION if it cannot be read
 * @throws the reason of the signal, or the error of a stream
 */
export async function prepareImage(
  input: ImageInput,
  signal?: AbortSignal | undefined,
): Promise<PreparedImage> {
  signal?.throwIfAborted();
  const source = sourceOf(input);
  switch (source.from) {
    case "key":
      return { key: source.key };
    case "url": {
      // Loaded late, because few bots send an address.
      const { checkImageUrl } = await import("./url.ts");
      return { url: checkImageUrl(source.url) };
    }
    case "path": {
      const data = await readImageFile(source.path, signal);
      return { data, kind: checkImage(data, `"${source.path}"`) };
    }
    case "bytes": {
      const data = await readBytes(source.bytes, signal);
      return { data, kind: checkImage(data) };
    }
  }
}

/** Prepares all images before any is uploaded, one after the other. */
export async function prepareImages(
  inputs: readonly ImageInput[],
  signal?: AbortSignal | undefined,
): Promise<PreparedImage[]> {
  const prepared: PreparedImage[] = [];
  for (const input of inputs) prepared.push(await prepareImage(input, signal));
  return prepared;
}

/**
 * Chooses among the three forms of `POST /uploads` (section 4 of the platform document). Bytes go as multipart unless base64 is
 * asked for, which is a third larger. The body can be sent more than once.
 */
export function uploadBody(image: Unsent, form: "multipart" | "base64" = "multipart"): UploadBody {
  if ("url" in image) return { json: { url: image.url } };
  const { data, kind } = image;
  const contentType = mediaTypeOf(kind);
  if (form === "base64") {
    return { json: { dataBase64: asBuffer(data).toString("base64"), contentType } };
  }
  const body = new FormData();
  // The name on disk stays private, and may lie about the kind.
  body.set(
    "file",
    new Blob([data], { type: contentType }),
    `image.${kind === "jpeg" ? "jpg" : kind}`,
  );
  return { form: body };
}
