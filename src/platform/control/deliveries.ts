import { invalid, notFound, PlatformError } from "../error.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import { eventSeq } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { MAX_BATCH } from "../webhooks/deliverer.ts";
import type { DeliveryResult, Sender } from "../webhooks/sender.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

/** Which events to deliver, in this order, in one batch. */
export interface DeliverInput {
  /** 1 to 50; the same id may stand there more than once. */
  readonly eventIds: readonly string[];
  /** How often the batch is delivered, one after the other, 1 to 100. Default 1. */
  readonly times?: number | undefined;
}

export type DeliverResult = DeliveryResult;

export interface ForcedOptions {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly sender: Sender;
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
    const events = eventIds.map((id) => this.#event(bot, id).event);
    const results: DeliverResult[] = [];
    for (let attempt = 1; attempt <= times; attempt += 1) {
      if (this.#options.timeline.ended.aborted) break;
      const result = await this.#options.sender.send({ ...this.#target(webhook), events });
      const entry = { bot: webhook.username, eventIds, attempt, forced: true };
      this.#options.timeline.add({ kind: "delivery", ...entry, ...result });
      results.push(result);
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
  #target({ bot, state }: Webhook): { readonly url: string; readonly secret: string } {
    const { url, secret, enabled } = state;
    if (this.#options.store.apps.disabled(bot)) {
      throw new PlatformError(
        409,
        "APP_DISABLED",
        "The app is disabled, so nothing is sent to it.",
      );
    }
    if (enabled && url !== null) return { url, secret };
    throw new PlatformError(409, "WEBHOOK_OFF", "The webhook is off; save it to switch it on.");
  }
}
