import type { Random } from "../../core/clock.ts";
import type { DeliveryFault } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, reach } from "./active-fault.ts";

export const webhookFaultModes = [
  "none",
  "status",
  "drop",
  "timeout",
  "lose-answer",
  "twice",
  "shuffle",
  "delay",
] as const;

/** Fault of scheduled deliveries. */
export interface WebhookFault {
  /**
   * `status` sends nothing and counts as an answer with `status`. `drop` sends nothing and counts as no answer.
   * `timeout` does the same after the timeout of a delivery. `lose-answer` sends the delivery but loses its answer.
   * `twice` sends it twice in a row, and the second answer counts. `shuffle` sends its events in random order. `delay`
   * sends it after `delayMs`.
   */
  readonly mode: "none" | DeliveryFault;
  /** 300 to 599. */
  readonly status: number;
  /** In ms on the platform's clock, 1 to 86,400,000. */
  readonly delayMs: number;
  /** Share of the deliveries that the fault affects, chosen at random: above 0, up to 1. Default: all. */
  readonly rate?: number | undefined;
  /** Number of deliveries that the fault still affects. Default: all until the fault changes. */
  readonly times?: number | undefined;
}

/** Fault to set. Defaults: `status` is 500, `delayMs` is 1000. */
export type WebhookFaultInput = Pick<WebhookFault, "mode" | "rate" | "times"> & {
  readonly [K in "status" | "delayMs"]?: WebhookFault[K] | undefined;
};

const NONE: WebhookFault = { mode: "none", status: 500, delayMs: 1_000 };

/** Injects faults into scheduled deliveries. Forced ones (`POST /control/v1/deliveries`) are exempt. */
export class WebhookFaults {
  readonly #active: ActiveFault<WebhookFault>;

  constructor(timeline: Timeline, random: Random) {
    this.#active = new ActiveFault({
      ...{ none: NONE, target: "webhook", timeline, random, describe },
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

  /** Uses the fault for one delivery. Returns mode `none` for a normal delivery. */
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
