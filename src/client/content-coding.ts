import { promisify } from "node:util";
import type { BrotliOptions, InputType, ZlibOptions, ZstdOptions } from "node:zlib";
import { hasCode } from "../errors.ts";

/** Maximum number of codings of a response. A proxy adds one, and more would only cost time. */
const MAX_CODINGS = 4;

type Options = ZlibOptions & BrotliOptions & ZstdOptions;
type Decoder = (bytes: InputType, options: Options) => Promise<Buffer>;

/** A response's body cannot be read. The message is worded to follow "the response". */
export class BodyUnreadable extends Error {
  override readonly name = "BodyUnreadable";
}

export function tooLong(maxBytes: number): BodyUnreadable {
  return new BodyUnreadable(`is longer than ${maxBytes} bytes`);
}

/**
 * Decodes the body of a response. The client asks for no coding, but some proxies compress every response.
 *
 * @param contentEncoding the header, which lists the codings in the order in which they were applied
 * @param maxBytes maximum size before and after each decoding, because a small body may decode to gigabytes
 * @throws {BodyUnreadable}
 */
export async function decodeContent(
  encoded: Buffer,
  contentEncoding: string,
  maxBytes: number,
): Promise<Buffer> {
  if (contentEncoding === "") return encoded;
  const codings = contentEncoding
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  // A response without a body may keep the header.
  if (encoded.length === 0 || codings.length === 0) return encoded;
  if (codings.length > MAX_CODINGS)
    throw new BodyUnreadable(`has ${codings.length} content codings`);
  let bytes = encoded;
  for (const coding of codings.reverse()) bytes = await decode(bytes, coding, maxBytes);
  return bytes;
}

async function decode(bytes: Buffer, coding: string, maxBytes: number): Promise<Buffer> {
  const decoder = decoderOf(coding, bytes);
  if (decoder === undefined) {
    throw new BodyUnreadable(
      `has the Content-Encoding ${JSON.stringify(coding.slice(0, 50))}, which the client cannot decode. ` +
        "Turn off compression in the proxy in front of the platform",
    );
  }
  try {
    return await decoder(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (hasCode(error, "ERR_BUFFER_TOO_LARGE")) throw tooLong(maxBytes);
    throw new BodyUnreadable(`is incomplete or damaged: it cannot be decoded as ${coding}`);
  }
}

/** Returns the decoder of a coding, or `undefined` if the coding is unknown. */
function decoderOf(coding: string, bytes: Buffer): Decoder | undefined {
  // Loaded on demand, because hardly any response is compressed.
  const zlib = process.getBuiltinModule("node:zlib");
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return promisify(zlib.gunzip);
    case "deflate":
      return promisify(hasZlibHeader(bytes) ? zlib.inflate : zlib.inflateRaw);
    case "br":
      return promisify(zlib.brotliDecompress);
    case "zstd":
      return promisify(zlib.zstdDecompress);
    default:
      return undefined;
  }
}

/** Returns whether a `deflate` body is in the zlib format (RFC 1950). Some servers send bare deflate data instead. */
function hasZlibHeader([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0;
}
