import { invalid, notFound, PlatformError } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import { eventSeq } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { MAX_BATCH } from "../webhooks/deliverer.ts";
import type { DeliveryRecords } from "../webhooks/records.ts";
import type { DeliveryResult, Endpoint, Sender } from "../webhooks/sender.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

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
  readonly webhooks: Webhooks;
  readonly sender: Sender;
  readonly records: DeliveryRecords;
  readonly shown: ShownEvents;
  readonly timeline: Timeline;
}

const MAX_TIMES = 100;

/** Deliveries beside the schedule: repeats, and events out of order. */
export class ForcedDeliveries {
  readonly #options: ForcedOptions;

  constructor(options: ForcedOptions) {
    this.#options = options;
  }

  /** @param bot the number of the bot whose events these are */
  async deliver(
    bot: number,
    { eventIds, times = 1 }: DeliverInput,
  ): Promise<readonly DeliverResult[]> {
    if (eventIds.length < 1 || eventIds.length > MAX_BATCH) {
      throw invalid(`eventIds must hold 1 to ${MAX_BATCH} ids`);
    }
    if (!Number.isInteger(times) || times < 1 || times > MAX_TIMES) {
      throw invalid(`times must be a whole number from 1 to ${MAX_TIMES}`);
    }
    const webhook = this.#options.webhooks.of(bot);
    const { username } = webhook;
    const { store, sender, records, timeline } = this.#options;
    const { epoch } = store;
    const events = eventIds.map((id) => this.#event(bot, id).event);
    const results: DeliverResult[] = [];
    for (let attempt = 1; attempt <= times; attempt += 1) {
      // Nor what is not there any more.
      if (timeline.ended.aborted || store.epoch !== epoch) break;
      this.#options.shown.note(bot, events);
      const sent = await sender.send(this.#endpoint(webhook), events);
      const id = records.add({ bot: username, attempt, forced: true }, sent);
      const { status, ms, error } = sent;
      results.push({ id, status, ms, ...(error === undefined ? {} : { error }) });
    }
    return results;
  }

  #event(bot: number, id: string): LoggedEvent {
    const seq = eventSeq(id);
    const event = seq === undefined ? undefined : this.#options.store.events.find(seq);
    if (event?.recipient !== bot) throw notFound(`event: ${id}`);
    return event;
  }

  /** While the webhook is off nothing is sent, not even by force. */
  #endpoint({ bot, endpoint }: Webhook): Endpoint {
    if (endpoint !== undefined) return endpoint;
    if (this.#options.store.apps.disabled(bot)) {
      const message = "The app is disabled, so nothing is sent to it.";
      throw new PlatformError(409, "APP_DISABLED", message);
    }
    throw new PlatformError(409, "WEBHOOK_OFF", "The webhook is off; save it to switch it on.");
  }
}
