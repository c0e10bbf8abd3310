import type { CircuitStatus } from "../client/breaker.ts";
import type { Client } from "../client/client.ts";
import type { RequestsStatus } from "../client/request-limiter.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { maxOf } from "../core/extremes.ts";
import { lastFour } from "../core/secrets.ts";
import type { InboxMeasures } from "../inbox/admin.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { RestoreMark } from "../inbox/restore-mark.ts";
import type { SharedReport } from "../inbox/shared.ts";
import type { Mode } from "../poller/mode.ts";
import type { Poller } from "../poller/poller.ts";
import type { DeliveryHistory } from "../receiver/delivery-history.ts";
import { type CredentialsStatus, credentialsOf } from "./credentials.ts";
import { type InboxStatus, inboxStatusOf } from "./inbox-status.ts";
import { type InstancesStatus, instancesStatusOf } from "./instances-status.ts";
import type { LoopGuardStatus } from "./limits-status.ts";
import { type LogStatus, logStatusOf } from "./log-status.ts";
import { diskStatusOf, type StoreHealth, type StoreStatus } from "./store-health.ts";
import { type WebhookStatus, webhookStateOf } from "./webhook-status.ts";

/**
 * A bot's status, without secrets or users' text. Times are in ms since 1970 on the bot's clock, which ignores changes
 * to the system time. `/readyz?verbose` returns them as ISO 8601 in UTC, and returns null for `undefined`. Only
 * `inbox`, `lastDeliveryAt` and the cursor survive a restart of the process.
 */
export interface BotStatus {
  /** Time when the status was read. */
  readonly at: number;
  /**
   * True while `/readyz` returns 200, which means that the bot has started, is not stopping, and its store responds.
   */
  readonly ready: boolean;
  /**
   * `auditing`: the webhook delivers the events, and the bot only checks the log at intervals. `polling`: the bot reads
   * all events from the log. `webhook`: the bot never reads the log (DELIVERY=webhook).
   */
  readonly mode: Mode | "webhook";
  /** Time of the last mode switch, or of startup. */
  readonly modeSince: number;
  /** Reason for the current mode, as text. */
  readonly modeReason: string;
  /**
   * Time when any instance last stored a delivery of the platform, including duplicates and deliveries without events.
   * Deliveries with own event types only do not count. If the process is killed, it may forget the deliveries of the
   * last 10 seconds.
   */
  readonly lastDeliveryAt: number | undefined;
  /** `undefined` without a webhook (DELIVERY=polling). */
  readonly webhook: WebhookStatus | undefined;
  /** Circuit breaker and clock of the platform's API, as this instance sees them. */
  readonly platform: PlatformStatus;
  /** `undefined` if the bot never reads the event log. */
  readonly log: LogStatus | undefined;
  /** `undefined` if the store does not respond. */
  readonly inbox: InboxStatus | undefined;
  /** Lasting problem with the inbox's files, as text. `undefined` if there is none. */
  readonly inboxProblem: string | undefined;
  /** Failure of this instance's store, and the disk. */
  readonly store: StoreStatus;
  /** `undefined` if the loop guard is off. */
  readonly loopGuard: LoopGuardStatus | undefined;
  /** This instance's request budget. `undefined` without MAX_REQUESTS_PER_MINUTE. */
  readonly requests: RequestsStatus | undefined;
  /** `undefined` if the bot is a single process (SQLite) or the store does not respond. */
  readonly instances: InstancesStatus | undefined;
  /** `undefined` if never restored. */
  readonly restored: RestoredStatus | undefined;
  /** Ends of the credentials in use. */
  readonly credentials: CredentialsStatus;
}

/** The platform's API, as this instance sees it. */
export interface PlatformStatus {
  /** Requests that this instance holds back now. Empty if it would send any request. */
  readonly circuits: readonly CircuitStatus[];
  /** How far the system clock is ahead of the platform's, in ms. `undefined` before the first response. */
  readonly clockSkewMs: number | undefined;
}

/** The last restore of the inbox from a backup. */
export interface RestoredStatus {
  /** Time of the restore. */
  readonly at: number;
  /**
   * Creation time of the newest event that may have been handled before the restore. `undefined` until a bot has the
   * platform's time.
   */
  readonly until: number | undefined;
  /**
   * Time when the bot first read the log to its end after the restore, which recovers the events that the backup lacks.
   * `undefined` until then. Pending events from before the restore may still be uncertain.
   */
  readonly readAt: number | undefined;
}

export interface StatusSources {
  readonly clock: Clock;
  /** The system clock, which signatures use. */
  readonly wall: Pick<Clock, "now">;
  readonly startedAt: number;
  readonly isReady: () => Promise<boolean>;
  readonly receiver: Pick<DeliveryHistory, "lastDeliveryAt" | "secret" | "refused" | "lastRefusal">;
  /** The last delivery before this process started. */
  readonly earlier: { readonly lastDeliveryAt: number | undefined };
  readonly poller: Pick<Poller, "status"> | undefined;
  readonly inbox: Pick<Inbox, "measure" | "shared" | "problem">;
  readonly client: Pick<Client, "requests" | "circuits" | "platformNow">;
  readonly loopGuard: LoopGuardStatus | undefined;
  readonly storeHealth: Pick<StoreHealth, "failure">;
  readonly config: Pick<
    Config,
    "apiKey" | "webhookSecrets" | "delivery" | "pollIntervalMs" | "auditIntervalMs"
  >;
  readonly restored?: { readonly mark: RestoreMark } | undefined;
}

/** A measurement of the store. Fields are `undefined` if the store did not respond in time. */
export interface StoreSample {
  readonly measures: InboxMeasures | undefined;
  /** Also `undefined` if the store serves only one process. */
  readonly shared: SharedReport | undefined;
}

/** Never rejects. */
export async function sampleStore(inbox: StatusSources["inbox"]): Promise<StoreSample> {
  const unknown = () => undefined;
  const [measures, shared] = await Promise.all([
    inbox.measure().catch(unknown),
    inbox.shared?.report().catch(unknown),
  ]);
  return { measures, shared };
}

/** Reads the status. If the store does not respond, its fields are `undefined`. */
export async function readStatus(sources: StatusSources): Promise<BotStatus> {
  const ready = await sources.isReady();
  return statusOf(sources, ready, await sampleStore(sources.inbox));
}

/** Builds the status from a sample. The sample is `undefined` if the store does not respond. */
export function statusOf(
  sources: Omit<StatusSources, "isReady">,
  ready: boolean,
  sample: StoreSample | undefined,
): BotStatus {
  const { clock, receiver, poller, inbox, client, restored, config } = sources;
  const { measures, shared } = sample ?? {};
  const at = clock.now();
  const instances = shared && inbox.shared && instancesStatusOf(inbox.shared.id, shared, at);
  const { mode, modeSince, modeReason, ...read } = poller?.status ?? {
    mode: "webhook" as const,
    modeSince: sources.startedAt,
    modeReason: "DELIVERY=webhook",
  };
  const lastDeliveryAt = latest([
    receiver.lastDeliveryAt,
    sources.earlier.lastDeliveryAt,
    ...(instances?.list.map((instance) => instance.lastDeliveryAt) ?? []),
  ]);
  return {
    at,
    ready,
    mode,
    modeSince,
    modeReason,
    lastDeliveryAt,
    webhook: config.delivery === "polling" ? undefined : webhookStatus(sources, at, lastDeliveryAt),
    platform: platformStatus(sources),
    log: "cursor" in read ? logStatusOf(read, at) : undefined,
    inbox: measures && inboxStatusOf(measures, at),
    inboxProblem: inbox.problem?.message,
    store: { failure: sources.storeHealth.failure, disk: diskStatusOf(measures?.disk) },
    loopGuard: sources.loopGuard && { holding: sources.loopGuard.holding },
    requests: client.requests,
    instances,
    restored: restored && {
      at: restored.mark.at,
      until: restored.mark.until,
      readAt: restored.mark.readAt,
    },
    credentials: credentialsOf(config),
  };
}

function webhookStatus(
  { startedAt, receiver, poller, config }: Omit<StatusSources, "isReady">,
  at: number,
  lastDeliveryAt: number | undefined,
): WebhookStatus {
  const { secret, refused, lastRefusal } = receiver;
  const known = { at, startedAt, lastDeliveryAt, intervals: config, poller: poller?.status };
  return {
    ...webhookStateOf(known),
    secretEnd: secret && lastFour(secret),
    refused,
    lastRefusal,
  };
}

function platformStatus({ client, wall }: Omit<StatusSources, "isReady">): PlatformStatus {
  const now = client.platformNow();
  return {
    circuits: client.circuits,
    clockSkewMs: now === undefined ? undefined : wall.now() - now,
  };
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : maxOf(known);
}

export type WrittenStatus = Readonly<Record<Exclude<keyof BotStatus, "ready">, unknown>> & {
  readonly ready: boolean;
};

/**
 * Formats the status for JSON. Every field is present, times are ISO 8601, and null stands for `undefined`. Omits host
 * names and process ids, because anyone with the token may read the response.
 */
export function writeStatus(status: BotStatus): WrittenStatus {
  return { ...status, ...writeFields(status) };
}

const TIME = /^(at|since|until)$|(At|Since)$/;

const LEFT_OUT: ReadonlySet<string> = new Set(["host", "pid"]);

function writeFields(fields: object): Readonly<Record<string, unknown>> {
  const entries: [string, unknown][] = Object.entries(fields);
  return Object.fromEntries(
    entries
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, value]) => [name, writeField(name, value)]),
  );
}

function writeField(name: string, value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "number" && TIME.test(name)) return new Date(value).toISOString();
  if (Array.isArray(value)) return value.map((item) => writeField("", item));
  return typeof value === "object" && value !== null ? writeFields(value) : value;
}
