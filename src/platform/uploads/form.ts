import * as z from "../../core/zod.ts";
import { invalid } from "../error.ts";
import { dropBody, isJson, readJson, validate } from "../http/body.ts";
import { uploadLimit } from "./limits.ts";
import { isMultipart, readFilePart } from "./multipart.ts";

/** What was sent: an address to download from, or bytes, with their media type where it was named. */
export type UploadForm =
  | { readonly url: string }
  | { readonly bytes: Uint8Array; readonly contentType?: string };

interface UploadJson {
  readonly url?: string | null | undefined;
  readonly dataBase64?: string | null | undefined;
  readonly contentType?: string | null | undefined;
}

const uploadJson: z.ZodType<UploadJson> = z.object({
  url: z.string().nullish(),
  dataBase64: z.string().nullish(),
  contentType: z.string().nullish(),
});

/**
 * Reads the body of an upload: the bytes of its file part, or what its JSON says.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_LARGE
 */
export async function readUploadBody(request: Request): Promise<unknown> {
  if (isMultipart(request)) return await readFilePart(request);
  if (request.body !== null && !isJson(request)) {
    dropBody(request);
    throw invalid("Send application/json, or multipart/form-data with the file part `file`.");
  }
  return await readJson(request, uploadLimit);
}

/**
 * Reads one of the three forms (section 4).
 *
 * @param body the bytes of a file part, or what a JSON body said
 * @throws {PlatformError} 400 VALIDATION
 */
export function readForm(body: unknown): UploadForm {
  if (body instanceof Uint8Array) return { bytes: body };
  const { url, dataBase64, contentType } = validate(uploadJson, body);
  if (typeof url === "string" && dataBase64 == null && contentType == null) return { url };
  if (typeof dataBase64 === "string" && typeof contentType === "string" && url == null) {
    return { bytes: decode(dataBase64), contentType: contentType.trim().toLowerCase() };
  }
  throw invalid("Send either url, or dataBase64 with contentType, or the file part `file`.");
}

function decode(base64: string): Uint8Array {
  const bytes = Buffer.from(base64, "base64");
  // Node passes over what is no base64; the way back shows it.
  if (bytes.toString("base64") !== base64) {
    throw invalid("dataBase64 must be standard base64 with padding, without a data: prefix");
  }
  return bytes;
}
