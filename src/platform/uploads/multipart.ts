import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { invalid, type PlatformError } from "../error.ts";
import { imageTooLarge, MAX_IMAGE_BYTES } from "./limits.ts";

/** The one part that an upload has (section 4). */
const PART = "file";

/** The headers of a part, in bytes. */
const MAX_HEADER_BYTES = 8 * 1024;

export function isMultipart(request: IncomingMessage): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(request.headers["content-type"] ?? "");
}

/**
 * Reads the file part named `file`; no more than 5 MB of it are kept.
 *
 * @throws {PlatformError} 400 VALIDATION, TOO_LARGE
 */
export function readFilePart(request: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const parser = openParser(request);
    const chunks: Buffer[] = [];
    let parts = 0;
    const fail = (error: PlatformError) => {
      request.unpipe(parser);
      // Lets the rest pass by, so that the client gets to read the answer.
      request.resume();
      reject(error);
    };
    parser.on("file", (name, file) => {
      parts += 1;
      file.on("data", (chunk: Buffer) => chunks.push(chunk));
      file.on("limit", () => fail(imageTooLarge()));
      // Told by the parser as well.
      file.on("error", () => {});
      if (name !== PART || parts > 1) fail(invalid(`Send one part, the file part \`${PART}\`.`));
    });
    parser.on("error", () => fail(invalid("The body is not multipart/form-data.")));
    parser.on("finish", () => {
      if (parts === 0) fail(invalid(`The file part \`${PART}\` is missing.`));
      else resolve(Buffer.concat(chunks));
    });
    request.on("close", () => {
      if (!request.complete) fail(invalid("The body ended too early."));
    });
    request.pipe(parser);
  });
}

function openParser(request: IncomingMessage): BusboyInstance {
  const { "content-type": contentType = "", ...headers } = request.headers;
  try {
    return new Busboy({
      headers: { ...headers, "content-type": contentType },
      limits: { fileSize: MAX_IMAGE_BYTES, headerSize: MAX_HEADER_BYTES },
      // With or without a file name: what counts is its name and its bytes.
      isPartAFile: () => true,
    });
  } catch {
    // Thrown where the header names no boundary.
    request.resume();
    throw invalid("The Content-Type names no boundary.");
  }
}
