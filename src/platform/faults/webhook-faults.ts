import type { Timeline } from "../timeline/timeline.ts";

/**
 * The next `failNext` delivery attempts count as failed without reaching the bot.
 * `status`: as if it had answered `status`; `drop`: as if no answer came.
 */
export interface WebhookFault {
  readonly failNext: number;
  readonly mode: "status" | "drop";
  readonly status: number;
}

/** A fault to set: `mode` is `status` unless said otherwise, `status` (300 to 599) is 500. */
export interface WebhookFaultInput {
  readonly failNext: number;
  readonly mode?: WebhookFault["mode"] | undefined;
  readonly status?: number | undefined;
}

const NONE: WebhookFault = { failNext: 0, mode: "status", status: 500 };

/** Makes scheduled deliveries fail. Forced ones (`POST /control/v1/deliveries`) are not touched. */
export class WebhookFaults {
  readonly #timeline: Timeline;
  #fault: WebhookFault = NONE;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get state(): WebhookFault {
    return this.#fault;
  }

  set({ failNext, mode = NONE.mode, status = NONE.status }: WebhookFaultInput): void {
    this.#fault = { failNext, mode, status };
    this.#note("set", describe(this.#fault));
  }

  /** Ends the fault, if there is one. */
  end(): void {
    if (this.#fault.failNext > 0) this.set({ failNext: 0 });
  }

  /** Uses up one attempt; undefined when deliveries go out as usual. */
  take(): WebhookFault | undefined {
    const fault = this.#fault;
    if (fault.failNext === 0) return undefined;
    const failNext = fault.failNext - 1;
    this.#fault = { ...fault, failNext };
    if (failNext === 0) this.#note("ended", "deliveries go out again");
    return fault;
  }

  #note(change: "set" | "ended", detail: string): void {
    this.#timeline.add({ kind: "fault", target: "webhook", change, detail });
  }
}

function describe({ failNext, mode, status }: WebhookFault): string {
  if (failNext === 0) return "none";
  const how = mode === "drop" ? "no answer" : `status ${status}`;
  return `the next ${failNext} fail: ${how}`;
}
