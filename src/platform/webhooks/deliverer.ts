import { type Clock, type Random, sleep } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { WebhookFault, WebhookFaults } from "../faults/webhook-faults.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import type { DeliveryRecords } from "./records.ts";
import type { Endpoint, Sender, Sent } from "./sender.ts";
import type { Webhook } from "./webhook.ts";

/** Events in one delivery, at most. */
export const MAX_BATCH = 50;

export interface DelivererOptions extends AttemptOptions {
  readonly store: Store;
  readonly webhook: Webhook;
  readonly records: DeliveryRecords;
  readonly logger: Logger;
  /** From a failure to the next round, in milliseconds. */
  readonly retryIntervalMs: number;
}

/**
 * `idle`: nothing is pending; `sending`: one delivery after the other; `waiting`: for the next round.
 * The state changes in the same turn as its reason, so that no call of `wake` falls in between.
 */
type State = "idle" | "sending" | "waiting" | "stopped";

/**
 * The schedule of one webhook (sections 3 and 6). What is pending goes out at once, in id order and
 * one delivery after the other. After a failure everything waits for the next round.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  /**
   * Aborts when the webhook is saved: a failure of an earlier configuration says nothing about this one, and a
   * delay that a fault has put before a delivery ends.
   */
  #interruption = new AbortController();
  #state: State = "idle";
  #cancelRound: () => void = () => {};
  #run: Promise<void> = Promise.resolve();

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  /** There may be something to deliver. While a round is being waited for, it waits too. */
  wake(): void {
    if (this.#state !== "idle") return;
    this.#state = "sending";
    this.#run = this.#deliverPending();
  }

  /** The webhook was saved: what is pending is tried at once, with the new configuration. */
  restart(): void {
    this.reset();
    this.wake();
  }

  /** Cancels the next round, and counts no failure of deliveries under way. */
  reset(): void {
    this.#interruption.abort();
    this.#interruption = new AbortController();
    this.#endWait();
  }

  /** Sends nothing more. Resolves when nothing runs; close the sender first. */
  async stop(): Promise<void> {
    this.#cancelRound();
    this.#state = "stopped";
    this.#interruption.abort();
    await this.#run;
  }

  async #deliverPending(): Promise<void> {
    try {
      for (;;) {
        const batch = this.#options.store.events.pending(this.#options.webhook.bot, MAX_BATCH);
        if (batch.length === 0) break;
        // Not the state, because the next run may have started by now.
        if (!(await this.#deliver(batch))) return;
      }
      this.#state = "idle";
    } catch (error) {
      this.#options.logger.error({ err: error }, "webhook deliveries failed inside the platform");
      this.#waitForRound();
    }
  }

  /** Returns whether this run goes on. */
  async #deliver(batch: readonly LoggedEvent[]): Promise<boolean> {
    const { store, webhook, records, logger } = this.#options;
    const interrupted = this.#interruption.signal;
    // Known now: the bot may be gone when the state is replaced meanwhile.
    const bot = webhook.username;
    const nth = webhook.state.consecutiveFailures + 1;
    const deliveries = await attempt(this.#options, {
      bot: webhook.bot,
      events: batch,
      endpoint: () => (store.isOpen ? webhook.endpoint : undefined),
      interrupted,
    });
    if (this.#state === "stopped") return false;
    for (const sent of deliveries) records.add({ bot, attempt: nth, forced: false }, sent);
    // The delivery belongs to a state that is gone.
    if (!store.isOpen) return false;
    const result = deliveries.at(-1);
    if (result === undefined) {
      // The webhook was saved before anything was sent: what it owes now may be something else.
      if (interrupted.aborted) return true;
      throw new Error("The webhook owes deliveries although it is off");
    }
    const { status, error } = result;
    if (error === undefined) {
      webhook.succeeded(batch);
      return true;
    }
    const failure = { bot, status, attempt: nth, events: batch.length, error };
    logger.warn(failure, "webhook delivery failed");
    if (interrupted.aborted) return true;
    webhook.failed(error);
    this.#waitForRound();
    return false;
  }

  /** After the webhook has gone off the round finds nothing pending. */
  #waitForRound(): void {
    if (this.#state !== "sending") return;
    const { clock, retryIntervalMs } = this.#options;
    this.#state = "waiting";
    this.#cancelRound = clock.timer(retryIntervalMs, () => {
      this.#endWait();
      this.wake();
    });
  }

  #endWait(): void {
    if (this.#state !== "waiting") return;
    this.#cancelRound();
    this.#state = "idle";
  }
}

export interface AttemptOptions {
  readonly sender: Sender;
  readonly faults: WebhookFaults;
  readonly clock: Clock;
  readonly shown: ShownEvents;
  /** Chooses the order of what is shuffled. */
  readonly random: Random;
}

export interface Batch {
  /** The number of the bot that it is for. */
  readonly bot: number;
  readonly events: readonly LoggedEvent[];
  /** The present target of deliveries. `undefined` while the webhook is off. */
  readonly endpoint: () => Endpoint | undefined;
  /** Ends a delay, because the batch is no longer to be delivered. */
  readonly interrupted: AbortSignal;
}

/**
 * One attempt of the schedule, with the fault that touches it.
 *
 * @returns each delivery in order, of which the last one counts; none when it was interrupted before
 */
async function attempt(options: AttemptOptions, batch: Batch): Promise<readonly Sent[]> {
  const { mode, ...details } = options.faults.take();
  if (mode === "none") return await send(options, batch);
  const sent = await goWrong({ ...details, mode }, options, batch);
  return sent.map((one) => ({ ...one, fault: mode }));
}

async function goWrong(
  { mode, status, delayMs }: WebhookFault & { readonly mode: DeliveryFault },
  options: AttemptOptions,
  batch: Batch,
): Promise<readonly Sent[]> {
  const { events } = batch;
  const { sender, clock, random } = options;
  switch (mode) {
    case "status":
    case "drop": {
      const eventIds = events.map(({ id }) => id);
      const error = "injected fault: nothing was sent";
      const answered = mode === "drop" ? null : status;
      return [{ at: clock.now(), eventIds, status: answered, ms: 0, error }];
    }
    case "timeout":
      return [await sender.sendNothing(events)];
    case "lose-answer": {
      const error = "injected fault: the answer was lost";
      const sent = await send(options, batch);
      return sent.map((one) => ({ ...one, status: null, error }));
    }
    case "twice":
      return [...(await send(options, batch)), ...(await send(options, batch))];
    case "shuffle":
      return await send(options, { ...batch, events: shuffled(events, random) });
    case "delay":
      await sleep(clock, delayMs, batch.interrupted);
      return batch.interrupted.aborted ? [] : await send(options, batch);
  }
}

/** Asks where to at the last moment: since the attempt began the webhook may have been saved. */
async function send(
  { sender, shown }: AttemptOptions,
  { bot, events, endpoint }: Batch,
): Promise<readonly Sent[]> {
  const to = endpoint();
  if (to === undefined) return [];
  // Before the answer: a bot may handle them while it makes that.
  shown.note(bot, events);
  return [await sender.send(to, events)];
}

/** In random order, each order as likely as any other. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}
