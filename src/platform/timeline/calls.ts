import { scrubber } from "../../core/safe-text.ts";
import { lastFour } from "../../core/secrets.ts";
import type { TextAnswer } from "../http/answer.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { ApiEntry } from "./entries.ts";
import {
  Bounded,
  type Bounds,
  firstBytes,
  MAX_RECORDS,
  RECORD_BYTES,
  type RecordedRequest,
  type RecordedResponse,
  textBytes,
  textOf,
} from "./recorded.ts";
import type { Timeline } from "./timeline.ts";

/** A completed API request by a bot. */
export interface CallSummary
  extends Pick<
    ApiEntry,
    "id" | "bot" | "method" | "path" | "ms" | "status" | "fault" | "eventId" | "guessed"
  > {
  /** Time of arrival. ISO 8601, UTC. */
  readonly at: string;
}

/** A call with its request and response bodies. */
export interface CallRecord extends CallSummary {
  /** The request as received, with its token masked. Uploads, and bodies that were rejected unread, are omitted. */
  readonly request: RecordedRequest;
  /** The response created by the platform, even if a fault then dropped it. `null` if there was no response. */
  readonly response: RecordedResponse | null;
}

/** Separate bounds for GET calls without an event, because frequent polls would otherwise evict all other calls. */
const MAX_READS: Bounds = { items: 200, bytes: 2 * 1024 * 1024 };

/** Maximum number of bytes to keep of each request and response body. */
const MAX_BODY_BYTES = 64 * 1024;

export interface EndedCall {
  readonly entry: Omit<ApiEntry, "kind" | "id">;
  /** Time of arrival, in ms since 1970. */
  readonly at: number;
  readonly request: Pick<Request, "url" | "headers">;
  /** `undefined` for an upload, or for a body that was rejected unread. */
  readonly body: Buffer | undefined;
  readonly answer: TextAnswer | undefined;
}

/** A call without its `Request`, because a `Request` would keep streams and signals in memory. */
interface KeptCall {
  readonly entry: Omit<ApiEntry, "kind">;
  readonly at: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly isCut: boolean;
  readonly response: RecordedResponse | null;
}

export class CallRecords {
  readonly #timeline: Timeline;
  readonly #writes = new Bounded<KeptCall>(MAX_RECORDS);
  readonly #reads = new Bounded<KeptCall>(MAX_READS);
  #last = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Records a call here and in the timeline. A record is masked and decoded only when it is read. */
  add({ at, request, answer, ...call }: EndedCall): void {
    this.#last += 1;
    const entry = { id: idOf("call", this.#last), ...call.entry };
    const body = call.body && firstBytes(call.body, MAX_BODY_BYTES);
    const isCut = body?.byteLength !== call.body?.byteLength;
    const { url } = request;
    const headers = Object.fromEntries(request.headers);
    const response = responseOf(answer);
    const texts = [url, ...Object.entries(headers).flat(), response?.body];
    const bytes = RECORD_BYTES + (body?.byteLength ?? 0) + textBytes(texts);
    const place =
      entry.method === "GET" && entry.eventId === undefined ? this.#reads : this.#writes;
    place.add(this.#last, { entry, at, url, headers, body, isCut, response }, bytes);
    this.#timeline.add({ kind: "api", ...entry });
  }

  /** Returns the calls that an event caused, oldest first. */
  because(eventId: string, bot: string): CallSummary[] {
    const calls = this.#writes
      .all()
      .filter(({ entry }) => entry.eventId === eventId && entry.bot === bot);
    return calls.map(summaryOf);
  }

  find(id: string): CallRecord | undefined {
    const seq = seqOf("call", id) ?? 0;
    const kept = this.#writes.get(seq) ?? this.#reads.get(seq);
    if (kept === undefined) return undefined;
    return { ...summaryOf(kept), request: requestOf(kept), response: kept.response };
  }
}

function summaryOf({ entry, at }: KeptCall): CallSummary {
  const { created: _, doctor: __, eventIds: ___, text: ____, ...summary } = entry;
  return { ...summary, at: new Date(at).toISOString() };
}

function responseOf(answer: TextAnswer | undefined): RecordedResponse | null {
  if (answer === undefined) return null;
  const { status, headers, body } = answer;
  const truncated = Buffer.byteLength(body) > MAX_BODY_BYTES;
  const kept = truncated ? textOf(firstBytes(Buffer.from(body), MAX_BODY_BYTES)) : body;
  return { status, headers, body: kept, truncated };
}

const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|secret|api-?key/;

/** In characters. A shorter secret could be an ordinary word. */
const MIN_SECRET_LENGTH = 12;

function requestOf({ url, headers, body, isCut }: KeptCall): RecordedRequest {
  const token = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1] ?? "";
  const scrub = token.length < MIN_SECRET_LENGTH ? (text: string) => text : scrubber([token]);
  const entries = Object.entries(headers).map(([name, value]) => {
    return [name, SECRET_HEADER.test(name) ? masked(value) : scrub(value)] as const;
  });
  const head = { url: scrub(url), headers: Object.fromEntries(entries) };
  if (body === undefined) return { ...head, body: unread(headers), truncated: true };
  return { ...head, body: scrub(textOf(body)), truncated: isCut };
}

/** Returns `Bearer …1f3a`, which is enough to distinguish tokens but not to use one. */
function masked(value: string): string {
  const [scheme = ""] = /^Bearer +/i.exec(value) ?? [];
  return `${scheme}…${lastFour(value.slice(scheme.length)) ?? ""}`;
}

function unread(headers: KeptCall["headers"]): string {
  const length = headers["content-length"];
  const size = length === undefined ? "of unknown length" : `${length} bytes`;
  return `(not kept: ${headers["content-type"] ?? "no type"}, ${size})`;
}
