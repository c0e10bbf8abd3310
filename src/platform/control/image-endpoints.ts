import type { Request } from "express";
import { mediaTypeOf } from "../../core/image-kind.ts";
import type { UploadView } from "../api/shapes.ts";
import { invalid, PlatformError } from "../error.ts";
import { readBytes } from "../http/body.ts";
import { text } from "../http/query.ts";
import { imageTooLarge, MAX_IMAGE_BYTES } from "../uploads/limits.ts";
import type { Control } from "./control.ts";
import type { Endpoints } from "./endpoint.ts";

/** Images of people, for what they write. */
export function imageEndpoints(control: Control): Endpoints {
  return { "/images": { post: (request) => upload(control, request) } };
}

async function upload(control: Control, request: Request): Promise<UploadView> {
  const contentType = request.headers["content-type"]?.toLowerCase() ?? "";
  if (!contentType.startsWith("image/")) {
    request.resume();
    const such = `such as ${mediaTypeOf("png")}`;
    const message = `Send the image's bytes with their type as Content-Type, ${such}.`;
    throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", message);
  }
  const from = text(request.query, "from");
  const bytes = await readBytes(request, { maxBytes: MAX_IMAGE_BYTES, tooLarge: imageTooLarge });
  if (from === undefined) throw invalid("from must say who will show the image, as in ?from=ada");
  return await control.addImage(bytes, { from, contentType });
}
