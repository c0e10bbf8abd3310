import type { Config } from "../config.ts";
import type { PollerStatus } from "../poller/snapshot.ts";
import type { RefusedDelivery } from "../receiver/delivery-history.ts";

/** The platform's webhook, as the bot sees it. Times are as in `BotStatus`. */
export interface WebhookStatus {
  /**
   * `working`: a delivery or the event log shows that the webhook delivers. `silent`: the event log has events that did
   * not arrive, so the webhook may be disabled. `unknown`: nothing shows whether it delivers.
   */
  readonly state: "working" | "silent" | "unknown";
  /** Reason for the state, as text. */
  readonly reason: string;
  /** Last four characters of the secret that signed this instance's last delivery. */
  readonly secretEnd: string | undefined;
  /** Number of deliveries that this instance has refused since it stored the last one. */
  readonly refused: number;
  /** The last of these deliveries. */
  readonly lastRefusal: RefusedDelivery | undefined;
}

export interface WebhookSources {
  readonly at: number;
  readonly startedAt: number;
  readonly lastDeliveryAt: number | undefined;
  /** `undefined` if the bot never reads the event log. */
  readonly poller: PollerStatus | undefined;
  readonly intervals: Pick<Config, "pollIntervalMs" | "auditIntervalMs">;
}

/** Time allowed for reading the log, in ms. */
const READ_MS = 60_000;

/** Longest time without reaching the end of the log, in ms. The ServiceBotLogUnread alert uses the same limit. */
export function longestLagMs(
  mode: string,
  { pollIntervalMs, auditIntervalMs }: WebhookSources["intervals"],
): number {
  return 3 * (mode === "polling" ? pollIntervalMs : auditIntervalMs) + READ_MS;
}

export function webhookStateOf(sources: WebhookSources): Pick<WebhookStatus, "state" | "reason"> {
  const { at, startedAt, lastDeliveryAt, poller, intervals } = sources;
  if (lastDeliveryAt === undefined && poller?.mode !== "polling") {
    return { state: "unknown", reason: "no delivery has arrived yet" };
  }
  if (poller === undefined) {
    return { state: "unknown", reason: "DELIVERY=webhook does not compare with the event log" };
  }
  const { mode, modeSince, modeReason, readToEndAt, lastPollError } = poller;
  if (mode === "polling") {
    return (lastDeliveryAt ?? 0) > modeSince
      ? { state: "working", reason: "deliveries arrive again" }
      : { state: "silent", reason: modeReason };
  }
  const longestMs = longestLagMs(mode, intervals);
  // A bot that has not read the log since its start knows only the deliveries since then.
  const isBlind = readToEndAt === undefined && lastPollError !== undefined;
  const isUnread = isBlind || at - (readToEndAt ?? startedAt) > longestMs;
  if (isUnread && (lastDeliveryAt ?? 0) < (isBlind ? startedAt : at - longestMs)) {
    return { state: "unknown", reason: "no delivery arrives, and the event log is unreadable" };
  }
  return { state: "working", reason: "no event in the log is missing" };
}
