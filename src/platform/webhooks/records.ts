import { Bounded, firstBytes, MOST_RECORDS } from "../bounded.ts";
import type { Window } from "../store/conversations.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { type DeliveryRecord, type DeliverySummary, recordOf } from "./record.ts";
import type { Sent } from "./sender.ts";

/** What is kept of the body of a request, in bytes. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** What the schedule, or whoever forced it, knows of a delivery. */
export interface Occasion {
  readonly bot: string;
  readonly attempt: number;
  readonly forced: boolean;
}

interface Kept {
  readonly summary: DeliverySummary;
  readonly sent: Sent;
}

/** The newest deliveries with what was sent and answered. They live in memory. */
export class DeliveryRecords {
  readonly #timeline: Timeline;
  readonly #kept = new Bounded<Kept>(MOST_RECORDS);
  #last = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** Records a delivery, here and in the timeline. Returns its id. */
  add({ bot, attempt, forced }: Occasion, sent: Sent): string {
    this.#last += 1;
    const id = idOf("dlv", this.#last);
    const { eventIds, status, ms, at } = sent;
    const error = sent.error === undefined ? {} : { error: sent.error };
    const fault = sent.fault === undefined ? {} : { fault: sent.fault };
    const result = { status, ms, ...error, ...fault };
    const made = { bot, eventIds, attempt, forced, at: new Date(at).toISOString() };
    this.#keep(this.#last, { summary: { id, ...made, ...result }, sent: shortened(sent) });
    this.#timeline.add({ kind: "delivery", id, bot, eventIds, attempt, forced, ...result });
    return id;
  }

  /** Those of one bot below `before`, newest first. */
  page(bot: string, { before, limit }: Window): DeliverySummary[] {
    const found: DeliverySummary[] = [];
    for (let seq = Math.min(before - 1, this.#last); found.length < limit; seq -= 1) {
      const kept = this.#kept.get(seq);
      if (kept === undefined) break;
      if (kept.summary.bot === bot) found.push(kept.summary);
    }
    return found;
  }

  /** Those that held an event, oldest first. */
  holding(eventId: string): DeliverySummary[] {
    const all = this.#kept.all().map(({ summary }) => summary);
    return all.filter(({ eventIds }) => eventIds.includes(eventId));
  }

  /** One of them as a whole. Waits for the rest of an answer that is still on its way. */
  async find(id: string): Promise<DeliveryRecord | undefined> {
    const kept = this.#kept.get(seqOf("dlv", id) ?? 0);
    if (kept === undefined) return undefined;
    const { summary, sent } = kept;
    await sent.answer?.collected;
    return recordOf(summary, sent);
  }

  #keep(seq: number, kept: Kept): void {
    const { summary, sent } = kept;
    const { request, answer } = sent;
    const head = JSON.stringify([summary, request?.url, request?.headers, answer?.headers]);
    this.#kept.add(seq, kept, Buffer.byteLength(head) + (request?.body.byteLength ?? 0));
    void answer?.collected.then(() => this.#kept.grow(seq, answer.bytes));
  }
}

/** Without what is too long to be kept. */
function shortened(sent: Sent): Sent {
  const { request } = sent;
  if (request === undefined) return sent;
  const body = firstBytes(request.body, MAX_REQUEST_BYTES);
  return { ...sent, request: { ...request, body } };
}
