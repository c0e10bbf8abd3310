import type { Random } from "../../core/backoff.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import type { AnyEvent } from "../../events/types.ts";
import type { WebhookFaults } from "../faults/webhook-faults.ts";
import type { Endpoint, Sender, Sent } from "./sender.ts";

export interface AttemptOptions {
  readonly sender: Sender;
  readonly faults: WebhookFaults;
  readonly clock: Clock;
  /** Chooses the order of what is shuffled. */
  readonly random: Random;
}

export interface Batch {
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
  const { sender, faults, clock, random } = options;
  const { events } = batch;
  const { mode: fault, status, delayMs } = faults.take();
  switch (fault) {
    case "none":
      return await send(sender, batch);
    case "status":
    case "drop": {
      const at = clock.now();
      const eventIds = events.map(({ id }) => id);
      const error = "injected fault: nothing was sent";
      return [{ at, eventIds, status: fault === "drop" ? null : status, ms: 0, error, fault }];
    }
    case "timeout":
      return [{ ...(await sender.sendNothing(events)), fault }];
    case "lose-answer": {
      const error = "injected fault: the answer was lost";
      const sent = await send(sender, batch);
      return sent.map((one) => ({ ...one, status: null, error, fault }));
    }
    case "twice": {
      const sent = [...(await send(sender, batch)), ...(await send(sender, batch))];
      return sent.map((one) => ({ ...one, fault }));
    }
    case "shuffle": {
      const sent = await send(sender, { ...batch, events: shuffled(events, random) });
      return sent.map((one) => ({ ...one, fault }));
    }
    case "delay": {
      await sleep(clock, delayMs, batch.interrupted);
      const sent = batch.interrupted.aborted ? [] : await send(sender, batch);
      return sent.map((one) => ({ ...one, fault }));
    }
  }
}

/** Asks where to at the last moment: since the attempt began the webhook may have been saved. */
async function send(sender: Sender, { events, endpoint }: Batch): Promise<readonly Sent[]> {
  const to = endpoint();
  return to === undefined ? [] : [await sender.send(to, events)];
}

/** In random order, each order as likely as any other. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1));
}
