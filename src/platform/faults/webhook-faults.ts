import type { Random } from "../../core/backoff.ts";
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
  readonly #timeline: Timeline;
  readonly #active: ActiveFault<WebhookFault>;

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    const onEnd = ({ mode }: WebhookFault) => {
      this.#note("ended", `${mode}: deliveries go out as usual again`);
    };
    this.#active = new ActiveFault({ none: NONE, random, onEnd });
  }

  get state(): WebhookFault {
    return this.#active.current;
  }

  set({ status = NONE.status, delayMs = NONE.delayMs, ...fault }: WebhookFaultInput): void {
    this.#active.set({ ...fault, status, delayMs });
    this.#note("set", describe(this.state));
  }

  /** Ends the fault, if there is one. */
  end(): void {
    if (this.state.mode !== "none") this.set({ mode: "none" });
  }

  /** Uses up one delivery. Mode `none` when it goes out as usual. */
  take(): WebhookFault {
    return this.#active.take();
  }

  #note(change: "set" | "ended", detail: string): void {
    this.#timeline.add({ kind: "fault", target: "webhook", change, detail });
  }
}

function describe(fault: WebhookFault): string {
  const { mode, status, delayMs } = fault;
  if (mode === "none") return "none";
  const details: Partial<Record<WebhookFault["mode"], string>> = {
    status: ` ${status}`,
    delay: ` of ${delayMs} ms`,
  };
  return `${mode}${details[mode] ?? ""} for ${reach(fault, "deliveries")}`;
}
