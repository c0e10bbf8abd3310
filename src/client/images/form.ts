import { mediaTypeOf } from "../../core/image-kind.ts";
import type { Unsent } from "./prepare.ts";

/** The body of `POST /uploads`: JSON, or multipart with the file part `file`. */
export type UploadBody = { readonly json: { readonly url: string } } | { readonly form: FormData };

/**
 * Chooses among the three forms of `POST /uploads` (section 4 of the platform document): an address
 * goes as JSON, bytes of any size as multipart, which is a quarter smaller than base64 in JSON and needs
 * no second copy as text. The body can be sent more than once.
 */
export function uploadBody(image: Unsent): UploadBody {
  if ("url" in image) return { json: { url: image.url } };
  const form = new FormData();
  // The name on disk is nobody's business, and may lie about the kind.
  const name = `image.${image.kind === "jpeg" ? "jpg" : image.kind}`;
  form.set("file", new Blob([image.data], { type: mediaTypeOf(image.kind) }), name);
  return { form };
}
