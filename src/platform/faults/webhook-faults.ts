import * as z from "zod";
import type { Random } from "../../core/clock.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, affected, failureStatus, reach, span } from "./active-fault.ts";

const webhookFaultModes = [
  "none",
  "status",
  "drop",
  "timeout",
  "lose-answer",
  "twice",
  "shuffle",
  "delay",
] as const;

/** Fault that affects scheduled deliveries. */
export interface WebhookFault {
  /**
   * Effect of the fault. `status` sends nothing and acts as if the bot had responded with `status`. `drop` sends
   * nothing and acts as if the bot had not responded. `timeout` does the same as `drop`, but only after the delivery
   * timeout. `lose-answer` sends the delivery but drops its response. `twice` sends the delivery twice in a row, and
   * only the second response counts. `shuffle` sends the delivery's events in random order. `delay` sends the delivery
   * after `delayMs`.
   */
  readonly mode: "none" | DeliveryFault;
  /** HTTP status, 300 to 599. */
  readonly status: number;
  /** Delay in ms on the platform's clock, 1 to 86,400,000. */
  readonly delayMs: number;
  /** Share of deliveries that the fault affects, chosen at random: above 0, up to 1. Default: all deliveries. */
  readonly rate?: number | undefined;
  /** Number of deliveries that the fault will still affect. Default: all deliveries until the fault changes. */
  readonly times?: number | undefined;
}

/** Fault to set. Defaults: `status` is 500, `delayMs` is 1000. */
export type WebhookFaultInput = Pick<WebhookFault, "mode" | "rate" | "times"> & {
  readonly [K in "status" | "delayMs"]?: WebhookFault[K] | undefined;
};

export const webhookFaultInput: z.ZodType<WebhookFaultInput> = z.strictObject({
  mode: z.enum(webhookFaultModes),
  status: failureStatus.optional(),
  delayMs: span.optional(),
  ...affected,
});

const NONE: WebhookFault = { mode: "none", status: 500, delayMs: 1_000 };

/** Injects faults into scheduled deliveries, but not into forced ones (`POST /control/v1/deliveries`). */
export class WebhookFaults {
  readonly #active: ActiveFault<WebhookFault>;

  constructor(timeline: Timeline, random: Random) {
    this.#active = new ActiveFault({
      none: NONE,
      target: "webhook",
      timeline,
      random,
      describe,
      afterwards: "deliveries work again",
    });
  }

  get state(): WebhookFault {
    return this.#active.current;
  }

  set({ status = NONE.status, delayMs = NONE.delayMs, ...fault }: WebhookFaultInput): void {
    this.#active.set({ ...fault, status, delayMs });
  }

  end(): void {
    this.#active.end();
  }

  /** Uses the fault once. Returns a fault in mode `none` if this delivery is not affected. */
  take(): WebhookFault {
    return this.#active.take();
  }
}

function describe(fault: WebhookFault): string {
  const { mode, status, delayMs } = fault;
  const details: Partial<Record<WebhookFault["mode"], string>> = {
    status: ` ${status}`,
    delay: ` of ${delayMs} ms`,
  };
  return `${mode}${details[mode] ?? ""} for ${reach(fault, "deliveries")}`;
}
