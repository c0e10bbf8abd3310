import type { Random } from "../../core/clock.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, reach } from "./active-fault.ts";
import type { WebhookFault } from "./webhook-fault.ts";

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
