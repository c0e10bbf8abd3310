import { Busboy, type BusboyInstance } from "@fastify/busboy";
import * as z from "zod";
import { invalid, PlatformError } from "../error.ts";
import { type BodyLimit, cancelBody, isJson, readBytes, readJson, validate } from "../http/body.ts";

/**
 * Largest image, in bytes. The 5 MB limit (section 8 of the platform document) is interpreted as 5 × 1024 × 1024, the
 * larger of its two meanings.
 */
export const MAX_IMAGE_BYTES: number = 5 * 1024 * 1024;

/** Base64 takes four characters for three bytes. */
const MAX_UPLOAD_BODY_BYTES = 7 * 1024 * 1024;

export function imageTooLarge(): PlatformError {
  return new PlatformError(400, "TOO_LARGE", `The image is larger than ${MAX_IMAGE_BYTES} bytes.`);
}

const uploadLimit: BodyLimit = { maxBytes: MAX_UPLOAD_BODY_BYTES, tooLarge: imageTooLarge };

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
 * Reads the body of an upload: the bytes of its file part, or its JSON.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_LARGE
 */
export async function readUploadBody(request: Request): Promise<unknown> {
  if (isMultipart(request)) return await readFilePart(request);
  if (request.body !== null && !isJson(request)) {
    cancelBody(request);
    throw invalid("Send application/json, or multipart/form-data with the file part `file`.");
  }
  return await readJson(request, uploadLimit);
}

/**
 * Parses one of the three upload forms (section 4 of the platform document).
 *
 * @param body the bytes of a file part, or parsed JSON
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
  // Node ignores characters outside base64, so encode the result again and compare it with the input.
  if (bytes.toString("base64") !== base64) {
    throw invalid("dataBase64 must be standard base64 with padding, without a data: prefix");
  }
  return bytes;
}

/** Name of the only allowed part (section 4 of the platform document). */
const PART = "file";

const MAX_HEADER_BYTES = 8 * 1024;

function isMultipart(request: Request): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
}

/** @throws {PlatformError} 400 VALIDATION, TOO_LARGE */
async function readFilePart(request: Request): Promise<Uint8Array> {
  const parser = openParser(request);
  return await filePartOf(await readBytes(request, uploadLimit), parser);
}

function filePartOf(body: Uint8Array, parser: BusboyInstance): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let parts = 0;
    parser.on("file", (name, file) => {
      parts += 1;
      file.on("data", (chunk: Buffer) => chunks.push(chunk));
      file.on("limit", () => reject(imageTooLarge()));
      // The parser reports the same error.
      file.on("error", () => {});
      if (name !== PART || parts > 1) reject(invalid(`Send one part, the file part \`${PART}\`.`));
    });
    parser.on("error", () => reject(invalid("The body is not multipart/form-data.")));
    parser.on("finish", () => {
      if (parts === 0) reject(invalid(`The file part \`${PART}\` is missing.`));
      else resolve(Buffer.concat(chunks));
    });
    parser.end(body);
  });
}

function openParser(request: Request): BusboyInstance {
  const contentType = request.headers.get("content-type") ?? "";
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { fileSize: MAX_IMAGE_BYTES, headerSize: MAX_HEADER_BYTES },
      // Accept a part without a file name, because only the part's name and bytes matter.
      isPartAFile: () => true,
    });
  } catch {
    // busboy throws if the header has no boundary.
    cancelBody(request);
    throw invalid("The Content-Type has no boundary.");
  }
}
