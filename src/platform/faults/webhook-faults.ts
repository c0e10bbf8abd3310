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

/** Fault of the deliveries of the schedule. */
export interface WebhookFault {
  /**
   * `status`: nothing is sent, as if the bot had answered `status`; `drop`: nothing is sent, and no answer
   * comes; `timeout`: likewise, after the time limit of a delivery; `lose-answer`: it is sent, and its
   * answer is lost; `twice`: it is sent two times in a row, of which the second one counts; `shuffle`: its
   * events are in random order; `delay`: it is sent after `delayMs`.
   */
  readonly mode: "none" | DeliveryFault;
  /** 300 to 599. */
  readonly status: number;
  /** Milliseconds on the platform's clock, 1 to 86,400,000. */
  readonly delayMs: number;
  /** The share of the deliveries that is touched, chosen at random: above 0, up to 1. Absent: all. */
  readonly rate?: number | undefined;
  /** Deliveries that the fault still applies to. Absent: all, until it is changed. */
  readonly times?: number | undefined;
}

/** A fault to set: `status` is 500 unless said otherwise, `delayMs` is 1000. */
export type WebhookFaultInput = Pick<WebhookFault, "mode" | "rate" | "times"> & {
  readonly [K in "status" | "delayMs"]?: WebhookFault[K] | undefined;
};

const NONE: WebhookFault = { mode: "none", status: 500, delayMs: 1_000 };

/** Lets scheduled deliveries go wrong. Forced ones (`POST /control/v1/deliveries`) are not touched. */
export class WebhookFaults {
  readonly #active: ActiveFault<WebhookFault>;

  constructor(timeline: Timeline, random: Random) {
    this.#active = new ActiveFault({
      ...{ none: NONE, target: "webhook", timeline, random, describe },
      afterwards: "deliveries go out as usual again",
    });
  }

  get state(): WebhookFault {
    return this.#active.current;
  }

  set({ status = NONE.status, delayMs = NONE.delayMs, ...fault }: WebhookFaultInput): void {
    this.#active.set({ ...fault, status, delayMs });
  }

  /** Ends the fault, if there is one. */
  end(): void {
    this.#active.end();
  }

  /** Uses up one delivery. Mode `none` when it goes out as usual. */
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
