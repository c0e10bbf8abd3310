import { scrubber } from "../../core/redact.ts";
import { type RecordedRequest, textOf } from "../webhooks/record.ts";

/** What is kept of the body of a request, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** Headers that say who somebody is. */
const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|secret|api-?key/;

/** Of a secret that is shorter, its end would say too much, and its text could be any word. */
const SHORTEST_SECRET = 12;

/**
 * Returns a request to the API as it may be shown: without its token, wherever that stands. For a body that is not kept,
 * its length is named.
 *
 * @param bytes `undefined` for an upload, and for a body that was refused unread
 */
export function recordedRequest(request: Request, bytes: Uint8Array | undefined): RecordedRequest {
  const given = request.headers;
  const token = /^Bearer +(\S+)$/i.exec(given.get("authorization") ?? "")?.[1] ?? "";
  const scrub = token.length < SHORTEST_SECRET ? (text: string) => text : scrubber([token]);
  const entries = [...given].map(([name, value]) => {
    return [name, SECRET_HEADER.test(name) ? masked(value) : scrub(value)] as const;
  });
  const headers = Object.fromEntries(entries);
  const url = scrub(request.url);
  if (bytes === undefined) return { url, headers, ...unread(request) };
  const body = scrub(textOf(bytes.subarray(0, MAX_BODY_BYTES)));
  return { url, headers, body, truncated: bytes.byteLength > MAX_BODY_BYTES };
}

/** `Bearer …1f3a`: enough to tell tokens apart, and not to use one. */
function masked(value: string): string {
  const [, scheme = "", secret = ""] = /^(Bearer +)?(.*)$/is.exec(value) ?? [];
  return `${scheme}…${secret.length < SHORTEST_SECRET ? "" : secret.slice(-4)}`;
}

function unread({ headers, body }: Request): Pick<RecordedRequest, "body" | "truncated"> {
  if (body === null) return { body: "", truncated: false };
  const length = headers.get("content-length");
  const size = length === null ? "of a length that was not announced" : `${length} bytes`;
  const type = headers.get("content-type") ?? "no type";
  return { body: `(not kept: ${type}, ${size})`, truncated: true };
}
