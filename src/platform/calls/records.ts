import { Bounded, firstBytes, MOST_RECORDS, type Most } from "../bounded.ts";
import type { WrittenAnswer } from "../http/answer.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { ApiEntry } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type RecordedRequest, textOf } from "../webhooks/record.ts";
import type { CallRecord, CallSummary } from "./record.ts";

/** What a bot reads by itself, such as the log every few seconds, is kept apart: it would push out what it did. */
const MOST_READS: Most = { items: 200, bytes: 2 * 1024 * 1024 };

/** What is kept of the body of an answer, in bytes. */
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

interface Kept {
  readonly summary: CallSummary;
  readonly request: RecordedRequest;
  readonly answer: (WrittenAnswer & { readonly truncated: boolean }) | undefined;
}

/** The newest calls of the API with what was asked and answered. They live in memory. */
export class CallRecords {
  readonly #timeline: Timeline;
  readonly #kept = new Bounded<Kept>(MOST_RECORDS);
  readonly #reads = new Bounded<Kept>(MOST_READS);
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

  /** Those that a bot made because of an event, oldest first. */
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
