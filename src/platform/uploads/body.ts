import type { IncomingMessage } from "node:http";
import { dropBody } from "../../core/body.ts";
import { invalid } from "../error.ts";
import { hasBody, isJson, readJson } from "../http/body.ts";
import { uploadLimit } from "./limits.ts";
import { isMultipart, readFilePart } from "./multipart.ts";

/**
 * Reads the body of an upload: the bytes of its file part, or what its JSON says.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_LARGE
 */
export async function readUploadBody(request: IncomingMessage): Promise<unknown> {
  if (isMultipart(request)) return readFilePart(request);
  if (hasBody(request) && !isJson(request)) {
    dropBody(request);
    throw invalid("Send application/json, or multipart/form-data with the file part `file`.");
  }
  return readJson(request, uploadLimit);
}
