import { asBuffer } from "../core/bytes.ts";
import { mediaTypeOf } from "../core/image-kind.ts";
import type { Http } from "./http.ts";
import { uploadBody } from "./images/form.ts";
import type { Unsent } from "./images/prepare.ts";
import { check, upload } from "./schemas.ts";
import type { CallOptions, Upload } from "./types.ts";

/** How an image is uploaded. */
export interface UploadOptions extends CallOptions {
  /** How bytes are sent. Default `multipart`; `base64` is JSON, and a third larger. */
  readonly form?: "multipart" | "base64" | undefined;
}

/** `POST /uploads` in the form that fits the image (section 4 of the platform document). */
export async function uploadImage(
  http: Http,
  image: Unsent,
  { signal, form = "multipart" }: UploadOptions,
): Promise<Upload> {
  const content =
    form === "base64" && "data" in image
      ? {
          json: {
            dataBase64: asBuffer(image.data).toString("base64"),
            contentType: mediaTypeOf(image.kind),
          },
        }
      : uploadBody(image);
  const { body } = await http.request("POST", "/uploads", { signal, ...content });
  return check(upload, body, "POST /uploads");
}
