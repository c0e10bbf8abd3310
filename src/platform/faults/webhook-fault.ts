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
  readonly mode: (typeof webhookFaultModes)[number];
  /** 300 to 599. */
  readonly status: number;
  /** Milliseconds on the platform's clock, 1 to 86,400,000. */
  readonly delayMs: number;
  /** The share of the deliveries that is touched, chosen at random: above 0, up to 1. Absent: all. */
  readonly rate?: number | undefined;
  /** Deliveries that the fault still applies to. Absent: all, until it is changed. */
  readonly times?: number | undefined;
}

/** Fault that a delivery met. */
export type DeliveryFault = Exclude<WebhookFault["mode"], "none">;
