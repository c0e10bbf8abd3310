import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { invalid } from "../error.ts";
import { dropBody, readBytes } from "../http/body.ts";
import { imageTooLarge, MAX_IMAGE_BYTES, uploadLimit } from "./limits.ts";

/** The one part that an upload has (section 4). */
const PART = "file";

/** The headers of a part, in bytes. */
const MAX_HEADER_BYTES = 8 * 1024;

export function isMultipart(request: Request): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(request.headers.get("content-type") ?? "");
}

/**
 * Reads the file part named `file`, of 5 MB at most.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_LARGE
 */
export async function readFilePart(request: Request): Promise<Uint8Array> {
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
      // Told by the parser as well.
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
      // With or without a file name: what counts is its name and its bytes.
      isPartAFile: () => true,
    });
  } catch {
    // Thrown where the header names no boundary.
    dropBody(request);
    throw invalid("The Content-Type names no boundary.");
  }
}
