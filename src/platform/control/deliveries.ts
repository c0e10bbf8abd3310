import { invalid, notFound, PlatformError } from "../error.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import { eventSeq } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { MAX_BATCH } from "../webhooks/deliverer.ts";
import type { DeliveryRecords } from "../webhooks/records.ts";
import type { DeliveryResult, Endpoint, Sender } from "../webhooks/sender.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/** Which events to deliver, in this order, in one batch. */
export interface DeliverInput {
  /** 1 to 50; the same id may stand there more than once. */
  readonly eventIds: readonly string[];
  /** How often the batch is delivered, one after the other, 1 to 100. Default 1. */
  readonly times?: number | undefined;
}

/** What came of one. */
export interface DeliverResult extends DeliveryResult {
  /** The id of its record. */
  readonly id: string;
}

export interface ForcedOptions {
  readonly store: Store;
  readonly webhook: Webhook;
  readonly sender: Sender;
  readonly records: DeliveryRecords;
  readonly timeline: Timeline;
}

const MAX_TIMES = 100;

/** Deliveries beside the schedule: repeats, and events out of order. */
export class ForcedDeliveries {
  readonly #options: ForcedOptions;

  constructor(options: ForcedOptions) {
    this.#options = options;
  }

  async deliver({ eventIds, times = 1 }: DeliverInput): Promise<readonly DeliverResult[]> {
    if (eventIds.length < 1 || eventIds.length > MAX_BATCH) {
      throw invalid(`eventIds must hold 1 to ${MAX_BATCH} ids`);
    }
    if (!Number.isInteger(times) || times < 1 || times > MAX_TIMES) {
      throw invalid(`times must be a whole number from 1 to ${MAX_TIMES}`);
    }
    const { store, sender, records, timeline } = this.#options;
    const { epoch } = store;
    const events = eventIds.map((id) => this.#event(id).event);
    const bot = store.people.bot().username;
    const results: DeliverResult[] = [];
    for (let attempt = 1; attempt <= times; attempt += 1) {
      // Nor what is not there any more.
      if (timeline.ended.aborted || store.epoch !== epoch) break;
      const sent = await sender.send(this.#endpoint(), events);
      const id = records.add({ bot, attempt, forced: true }, sent);
      const { status, ms, error } = sent;
      results.push({ id, status, ms, ...(error === undefined ? {} : { error }) });
    }
    return results;
  }

  #event(id: string): LoggedEvent {
    const seq = eventSeq(id);
    const event = seq === undefined ? undefined : this.#options.store.events.find(seq);
    if (event === undefined) throw notFound(`event: ${id}`);
    return event;
  }

  /** While the webhook is off nothing is sent, not even by force. */
  #endpoint(): Endpoint {
    const { url, secret, enabled } = this.#options.webhook.state;
    if (enabled && url !== null) return { url, secret };
    throw new PlatformError(409, "WEBHOOK_OFF", "The webhook is off; save it to switch it on.");
  }
}
