import { scrubber } from "../../core/safe-text.ts";
import type { TextAnswer } from "../http/answer.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { ApiEntry } from "./entries.ts";
import {
  Bounded,
  type Bounds,
  firstBytes,
  MAX_RECORDS,
  RECORD_HEAD_BYTES,
  type RecordedRequest,
  type RecordedResponse,
  textOf,
} from "./recorded.ts";
import type { Timeline } from "./timeline.ts";

/** A request of a bot to the API that came to its end. */
export interface CallSummary
  extends Pick<
    ApiEntry,
    "id" | "bot" | "method" | "path" | "ms" | "status" | "fault" | "eventId" | "guessed"
  > {
  /** When it came: ISO 8601, UTC. */
  readonly at: string;
}

/** A call with both bodies. */
export interface CallRecord extends CallSummary {
  /** The request as received, with its token masked. Uploads and requests that were refused unread have no body. */
  readonly request: RecordedRequest;
  /** The answer as made, even if a fault lost it on the way. Null if none was made. */
  readonly response: RecordedResponse | null;
}

/** Bounds of reads by a bot itself. They are kept apart because a log that is polled would push out its other calls. */
const MAX_READS: Bounds = { items: 200, bytes: 2 * 1024 * 1024 };

/** Bytes kept of the body of a request, and of an answer. */
const MAX_BODY_BYTES = 64 * 1024;

/** A call that came to its end. */
export interface EndedCall {
  readonly entry: Omit<ApiEntry, "kind" | "id">;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
  readonly request: Pick<Request, "url" | "headers">;
  /** `undefined` for an upload, and for a body that was refused unread. */
  readonly body: Buffer | undefined;
  /** `undefined` if none was made. */
  readonly answer: TextAnswer | undefined;
}

interface KeptCall extends Omit<EndedCall, "entry"> {
  readonly entry: Omit<ApiEntry, "kind">;
  /** Whether `body` is not the whole. */
  readonly isCut: boolean;
}

/** The newest calls of the API with what was asked and answered. They live in memory. */
export class CallRecords {
  readonly #timeline: Timeline;
  readonly #kept = new Bounded<KeptCall>(MAX_RECORDS);
  readonly #reads = new Bounded<KeptCall>(MAX_READS);
  #last = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Records a call, here and in the timeline. It is masked and decoded once someone looks at it. */
  add(call: EndedCall): void {
    this.#last += 1;
    const entry = { id: idOf("call", this.#last), ...call.entry };
    const body = call.body && firstBytes(call.body, MAX_BODY_BYTES);
    const isCut = body?.byteLength !== call.body?.byteLength;
    const bytes = (body?.byteLength ?? 0) + (call.answer?.body.length ?? 0);
    const place = entry.method === "GET" && entry.eventId === undefined ? this.#reads : this.#kept;
    place.add(this.#last, { ...call, entry, body, isCut }, RECORD_HEAD_BYTES + bytes);
    this.#timeline.add({ kind: "api", ...entry });
  }

  /** Returns the calls that a bot made because of an event, oldest first. */
  because(eventId: string): CallSummary[] {
    const calls = this.#kept.all().filter(({ entry }) => entry.eventId === eventId);
    return calls.map(summaryOf);
  }

  /** One of them as a whole. */
  find(id: string): CallRecord | undefined {
    const seq = seqOf("call", id) ?? 0;
    const kept = this.#kept.get(seq) ?? this.#reads.get(seq);
    if (kept === undefined) return undefined;
    return { ...summaryOf(kept), request: requestOf(kept), response: responseOf(kept) };
  }
}

function summaryOf({ entry, at }: KeptCall): CallSummary {
  const { created: _, doctor: __, eventIds: ___, text: ____, ...summary } = entry;
  return { ...summary, at: new Date(at).toISOString() };
}

function responseOf({ answer }: KeptCall): RecordedResponse | null {
  if (answer === undefined) return null;
  const bytes = Buffer.from(answer.body);
  return {
    status: answer.status,
    headers: answer.headers,
    body: textOf(bytes.subarray(0, MAX_BODY_BYTES)),
    truncated: bytes.byteLength > MAX_BODY_BYTES,
  };
}

/** Headers that identify their sender. */
const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|secret|api-?key/;

/** Characters. The end of a shorter secret would reveal too much, and its text could be any word. */
const SHORTEST_SECRET = 12;

/** Returns the request without its token, wherever that stands. */
function requestOf({ request, body, isCut }: KeptCall): RecordedRequest {
  const given = request.headers;
  const token = /^Bearer +(\S+)$/i.exec(given.get("authorization") ?? "")?.[1] ?? "";
  const scrub = token.length < SHORTEST_SECRET ? (text: string) => text : scrubber([token]);
  const entries = [...given].map(([name, value]) => {
    return [name, SECRET_HEADER.test(name) ? masked(value) : scrub(value)] as const;
  });
  const head = { url: scrub(request.url), headers: Object.fromEntries(entries) };
  if (body === undefined) return { ...head, body: unread(given), truncated: true };
  return { ...head, body: scrub(textOf(body)), truncated: isCut };
}

/** `Bearer …1f3a`: enough to distinguish tokens, and not to use one. */
function masked(value: string): string {
  const [, scheme = "", secret = ""] = /^(Bearer +)?(.*)$/is.exec(value) ?? [];
  return `${scheme}…${secret.length < SHORTEST_SECRET ? "" : secret.slice(-4)}`;
}

/** Names the length of a body that is not kept. */
function unread(headers: Headers): string {
  const length = headers.get("content-length");
  const size = length === null ? "of a length that was not announced" : `${length} bytes`;
  return `(not kept: ${headers.get("content-type") ?? "no type"}, ${size})`;
}
