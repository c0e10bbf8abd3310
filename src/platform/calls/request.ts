import type { IncomingMessage } from "node:http";
import { scrubber } from "../../core/redact.ts";
import { type RecordedRequest, textOf } from "../webhooks/record.ts";

/** What is kept of the body of a request, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** Headers that say who somebody is. */
const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|secret|api-?key/;

/** Of a secret that is shorter, its end would say too much, and its text could be any word. */
const SHORTEST_SECRET = 12;

/** What is read of a request so far. */
export interface Body {
  /** Undefined for an upload, and for what was refused before it was read. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * A request to the API as it may be shown: without its token, wherever that stands. Of a body that is not
 * kept it says how long it was.
 */
export function recordedRequest(
  request: IncomingMessage & { originalUrl: string },
  { bytes }: Body,
): RecordedRequest {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const scrub = token.length < SHORTEST_SECRET ? (text: string) => text : scrubber([token]);
  const entries = Object.entries(request.headers).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    return [name, SECRET_HEADER.test(name) ? masked(text) : scrub(text)] as const;
  });
  const headers = Object.fromEntries(entries);
  const url = scrub(`http://${request.headers.host}${request.originalUrl}`);
  if (bytes === undefined) return { url, headers, ...unread(request) };
  const body = scrub(textOf(bytes.subarray(0, MAX_BODY_BYTES)));
  return { url, headers, body, truncated: bytes.byteLength > MAX_BODY_BYTES };
}

/** `Bearer …1f3a`: enough to tell tokens apart, and not to use one. */
function masked(value: string): string {
  const [, scheme = "", secret = ""] = /^(Bearer +)?(.*)$/is.exec(value) ?? [];
  return `${scheme}…${secret.length < SHORTEST_SECRET ? "" : secret.slice(-4)}`;
}

function unread({ headers }: IncomingMessage): Pick<RecordedRequest, "body" | "truncated"> {
  const length = headers["content-length"];
  const chunked = headers["transfer-encoding"] !== undefined;
  if (!chunked && Number(length ?? 0) === 0) return { body: "", truncated: false };
  const size = chunked ? "of a length that was not announced" : `${length} bytes`;
  return { body: `(not kept: ${headers["content-type"] ?? "no type"}, ${size})`, truncated: true };
}
