import { type Clock, type Random, sleep } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { WebhookFault, WebhookFaults } from "../faults/webhook-faults.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import type { Store } from "../store/store.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import type { DeliveryRecords } from "./records.ts";
import type { DeliveryAttempt, Endpoint, Sender } from "./sender.ts";
import type { Webhook } from "./webhook.ts";

export const MAX_BATCH = 50;

export interface DelivererOptions extends AttemptOptions {
  readonly store: Store;
  readonly webhook: Webhook;
  readonly records: DeliveryRecords;
  readonly logger: Logger;
  /** Time from a failure to the next round. */
  readonly retryIntervalMs: number;
}

/**
 * `idle`: nothing is pending. `sending`: deliveries run one after another. `waiting`: the next round is scheduled. The
 * state changes synchronously with its cause, so `wake` is never called in between.
 */
type State = "idle" | "sending" | "waiting" | "stopped";

/**
 * One webhook's schedule (sections 3 and 6 of the platform document). Sends pending events immediately, in id order,
 * one delivery after another. After a failure, all pending events wait for the next round.
 */
export class Deliverer {
  readonly #options: DelivererOptions;
  /**
   * Aborts when the webhook is saved. Failures with the old configuration then no longer count, and a fault's delay
   * ends.
   */
  #interruption = new AbortController();
  #state: State = "idle";
  #cancelRound: () => void = () => {};
  #run: Promise<void> = Promise.resolve();

  constructor(options: DelivererOptions) {
    this.#options = options;
  }

  /** Starts deliveries if the schedule is idle. If it is waiting for the next round, new events wait too. */
  wake(): void {
    if (this.#state !== "idle") return;
    this.#state = "sending";
    this.#run = this.#deliverPending();
  }

  /** Retries pending deliveries immediately, because the webhook was saved. */
  restart(): void {
    this.reset();
    this.wake();
  }

  /** Cancels the next round. Failures of deliveries in flight no longer count. */
  reset(): void {
    this.#interruption.abort();
    this.#interruption = new AbortController();
    this.#endWait();
  }

  /** Stops the schedule. Resolves once the current run has ended. Close the sender first, so that the run ends soon. */
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
        // Do not check the state, because the next run may have started.
        if (!(await this.#deliver(batch))) return;
      }
      this.#state = "idle";
    } catch (error) {
      this.#options.logger.error({ err: error }, "the platform failed to deliver webhooks");
      this.#waitForRound();
    }
  }

  /** Returns whether this run may continue. */
  async #deliver(batch: readonly LoggedEvent[]): Promise<boolean> {
    const { store, webhook, records, logger } = this.#options;
    const interrupted = this.#interruption.signal;
    // Read the username before the attempt, because a replaced state may no longer contain the bot.
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
    if (!store.isOpen) return false;
    const result = deliveries.at(-1);
    if (result === undefined) {
      // The webhook was saved before the delivery was sent, so the pending events may have changed.
      if (interrupted.aborted) return true;
      throw new Error("The webhook has pending deliveries although it is off");
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

  /** Schedules the next round. If the webhook is disabled in the meantime, the round finds no pending events. */
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
  readonly random: Random;
}

export interface Batch {
  /** `seq` of the receiving bot. */
  readonly bot: number;
  readonly events: readonly LoggedEvent[];
  /** Returns the current target, or `undefined` while the webhook is off. */
  readonly endpoint: () => Endpoint | undefined;
  /** Aborts a fault's delay when the batch is outdated. */
  readonly interrupted: AbortSignal;
}

/**
 * Attempts a scheduled delivery and applies the active fault.
 *
 * @returns the deliveries in order, the last of which counts; empty if interrupted before the first one
 */
async function attempt(options: AttemptOptions, batch: Batch): Promise<readonly DeliveryAttempt[]> {
  const { mode, ...details } = options.faults.take();
  if (mode === "none") return await send(options, batch);
  const sent = await goWrong({ ...details, mode }, options, batch);
  return sent.map((one) => ({ ...one, fault: mode }));
}

async function goWrong(
  { mode, status, delayMs }: WebhookFault & { readonly mode: DeliveryFault },
  options: AttemptOptions,
  batch: Batch,
): Promise<readonly DeliveryAttempt[]> {
  const { events } = batch;
  const { sender, clock, random } = options;
  switch (mode) {
    case "status":
    case "drop": {
      const eventIds = events.map(({ id }) => id);
      const error = "injected fault: not sent";
      const answered = mode === "drop" ? null : status;
      return [{ at: clock.now(), eventIds, status: answered, ms: 0, error }];
    }
    case "timeout":
      return [await sender.sendNothing(events)];
    case "lose-answer": {
      const error = "injected fault: the response was lost";
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

/** Reads the endpoint just before sending, because the webhook may have been saved since the attempt began. */
async function send(
  { sender, shown }: AttemptOptions,
  { bot, events, endpoint }: Batch,
): Promise<readonly DeliveryAttempt[]> {
  const to = endpoint();
  if (to === undefined) return [];
  // Record the events as seen before the response, because the bot may handle them before it responds.
  shown.note(bot, events);
  return [await sender.send(to, events)];
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}
