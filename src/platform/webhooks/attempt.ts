import type { Random } from "../../core/backoff.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import type { AnyEvent } from "../../events/types.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { DeliveryFault, WebhookFault } from "../faults/webhook-fault.ts";
import type { WebhookFaults } from "../faults/webhook-faults.ts";
import type { Sender, Sent } from "./sender.ts";
import type { Endpoint } from "./signed.ts";

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
  readonly events: readonly AnyEvent[];
  /** Where deliveries go at this moment; undefined while the webhook is off. */
  readonly endpoint: () => Endpoint | undefined;
  /** Ends a delay: the batch is not what is to be delivered any more. */
  readonly interrupted: AbortSignal;
}

/**
 * One attempt of the schedule, with the fault that touches it.
 *
 * @returns each delivery in order, of which the last one counts; none when it was interrupted before
 */
export async function attempt(options: AttemptOptions, batch: Batch): Promise<readonly Sent[]> {
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
