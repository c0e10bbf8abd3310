import { scrubber } from "../core/safe-text.ts";
import { Bounded, type Bounds, firstBytes, MAX_RECORDS } from "./bounded.ts";
import type { WrittenAnswer } from "./http/answer.ts";
import { idOf, seqOf } from "./store/ids.ts";
import type { ApiEntry } from "./timeline/entries.ts";
import type { Timeline } from "./timeline/timeline.ts";
import { type RecordedRequest, type RecordedResponse, textOf } from "./webhooks/records.ts";

/** A request of a bot to the API that came to its end. */
export interface CallSummary {
  /** Such as `call_17`; numbers start again with the process. */
  readonly id: string;
  /** The username of the bot that called; absent where no valid token says it. */
  readonly bot?: string;
  readonly method: string;
  /** Below /api/v1, without the query. */
  readonly path: string;
  /** When it came: ISO 8601, UTC. */
  readonly at: string;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** Null when no answer was sent: the client went away, or a fault lost the answer. */
  readonly status: number | null;
  /** The fault that touched it. */
  readonly fault?: NonNullable<ApiEntry["fault"]>;
  /** The event because of which the bot called, as it says or as it is guessed. */
  readonly eventId?: string;
  readonly guessed?: true;
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

/** Bytes kept of the body of an answer. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** A call that came to its end. */
export interface EndedCall {
  readonly entry: Omit<ApiEntry, "kind" | "id">;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
  readonly request: RecordedRequest;
  /** Undefined when none was made. */
  readonly answer: WrittenAnswer | undefined;
}

interface Shortened {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

interface Kept {
  readonly summary: CallSummary;
  readonly request: RecordedRequest;
  readonly answer: (Omit<WrittenAnswer, "bytes"> & Shortened) | undefined;
}

/** The newest calls of the API with what was asked and answered. They live in memory. */
export class CallRecords {
  readonly #timeline: Timeline;
  readonly #kept = new Bounded<Kept>(MAX_RECORDS);
  readonly #reads = new Bounded<Kept>(MAX_READS);
  #last = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Records a call, here and in the timeline. */
  add({ entry, at, request, answer }: EndedCall): void {
    this.#last += 1;
    const id = idOf("call", this.#last);
    const { bot, method, path, ms, status, fault, eventId, guessed } = entry;
    const summary: CallSummary = {
      id,
      ...(bot === undefined ? {} : { bot }),
      ...{ method, path, at: new Date(at).toISOString(), ms, status },
      ...(fault === undefined ? {} : { fault }),
      ...(eventId === undefined ? {} : { eventId }),
      ...(guessed === undefined ? {} : { guessed }),
    };
    const kept = answer === undefined ? undefined : shortened(answer);
    const head = JSON.stringify([summary, request, kept?.headers]);
    const bytes = Buffer.byteLength(head) + (kept?.bytes.byteLength ?? 0);
    const place = method === "GET" && eventId === undefined ? this.#reads : this.#kept;
    place.add(this.#last, { summary, request, answer: kept }, bytes);
    this.#timeline.add({ kind: "api", id, ...entry });
  }

  /** Returns the calls that a bot made because of an event, oldest first. */
  because(eventId: string): CallSummary[] {
    const all = this.#kept.all().map(({ summary }) => summary);
    return all.filter((summary) => summary.eventId === eventId);
  }

  /** One of them as a whole. */
  find(id: string): CallRecord | undefined {
    const seq = seqOf("call", id) ?? 0;
    const kept = this.#kept.get(seq) ?? this.#reads.get(seq);
    if (kept === undefined) return undefined;
    const { summary, request, answer } = kept;
    if (answer === undefined) return { ...summary, request, response: null };
    const { status, headers, bytes, truncated } = answer;
    return { ...summary, request, response: { status, headers, body: textOf(bytes), truncated } };
  }
}

function shortened(answer: WrittenAnswer): NonNullable<Kept["answer"]> {
  const bytes = firstBytes(answer.bytes, MAX_ANSWER_BYTES);
  return { ...answer, bytes, truncated: answer.bytes.byteLength > MAX_ANSWER_BYTES };
}

/** Bytes kept of the body of a request. */
const MAX_BODY_BYTES = 64 * 1024;

/** Headers that say who somebody is. */
const SECRET_HEADER = /^(proxy-)?authorization$|^cookie$|token|secret|api-?key/;

/** Characters. The end of a shorter secret would reveal too much, and its text could be any word. */
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
