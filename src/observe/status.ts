import type { Client } from "../client/client.ts";
import type { RequestsStatus } from "../client/request-limiter.ts";
import type { Clock } from "../core/clock.ts";
import type { InboxMeasures } from "../inbox/admin.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { RestoreMark } from "../inbox/restore-mark.ts";
import type { SharedReport } from "../inbox/shared.ts";
import type { Mode } from "../poller/mode.ts";
import type { Poller } from "../poller/poller.ts";
import type { PollerStatus } from "../poller/snapshot.ts";
import type { Receiver } from "../receiver/receive.ts";

/**
 * Status of a bot, without secrets and texts of people. Times are milliseconds since 1970 on the bot's clock, which does not
 * move when the system's time is set. `/readyz?verbose` writes them as ISO 8601 in UTC, and null for undefined. Only `inbox`
 * and the cursor remember the time before the start of the process.
 */
export interface BotStatus {
  /** Time of the status. */
  readonly at: number;
  /** True while `/readyz` answers 200: the bot has started, is not stopping, and its store answers. */
  readonly ready: boolean;
  /**
   * `auditing`: the webhook brings the events, and the log is read now and then; `polling`: the log brings
   * them; `webhook`: the log is never read (DELIVERY=webhook).
   */
  readonly mode: Mode | "webhook";
  /** Time of the last switch, or of the start. */
  readonly modeSince: number;
  /** Reason of the last switch, for people; before the first one, of the mode at the start. */
  readonly modeReason: string;
  /** Time when any instance last stored a delivery, duplicates and empty ones included. */
  readonly lastDeliveryAt: number | undefined;
  /** `undefined` if the event log is never read. */
  readonly log: LogStatus | undefined;
  /** `undefined` if the store does not answer. */
  readonly inbox: InboxStatus | undefined;
  /** This instance's budget of requests to the platform; undefined without MAX_REQUESTS_PER_MINUTE. */
  readonly requests: RequestsStatus | undefined;
  /** `undefined` if the bot is one process (SQLite), or the store does not answer. */
  readonly instances: InstancesStatus | undefined;
  /** `undefined` if never restored. */
  readonly restored: RestoredStatus | undefined;
}

/** Restore of the inbox from a backup. */
export interface RestoredStatus {
  /** Time of the restore. */
  readonly at: number;
  /** Events made later were not handled before the restore; `undefined` until the platform's time is known. */
  readonly until: number | undefined;
  /**
   * When the log was read to its end since, so that the events after the backup are back; undefined until then. Pending
   * events from before the restore may still be in doubt.
   */
  readonly readAt: number | undefined;
}

/** Position in the platform's event log. */
export interface LogStatus
  extends Pick<PollerStatus, "cursor" | "lastPollAt" | "lastPollError" | "readToEndAt"> {
  /**
   * Age of `readToEndAt` in ms. Events of the log from before then are in the inbox. Nothing that the webhook lost has been
   * missing for longer, except an event that the platform entered out of order: the next audit finds it. Up to the
   * interval of the mode, and the time of a read, is normal. `undefined` until the end was reached.
   */
  readonly lagMs: number | undefined;
}

/** Events that wait in the inbox, and dead letters. */
export interface InboxStatus {
  /** Events that are not handled yet, including events that wait for a retry. */
  readonly pending: number;
  /** Time when the oldest of them was received. */
  readonly oldestPendingAt: number | undefined;
  /** Its age in ms. */
  readonly oldestPendingAgeMs: number | undefined;
  /** Events that will not be handled unless a person retries them. */
  readonly deadLetters: number;
}

/** Parts of a bot that its status reads. */
export interface StatusSources {
  readonly clock: Clock;
  /** Time of the start, on that clock. */
  readonly startedAt: number;
  readonly isReady: () => Promise<boolean>;
  readonly receiver: Pick<Receiver, "lastDeliveryAt">;
  readonly poller: Pick<Poller, "status"> | undefined;
  readonly inbox: Pick<Inbox, "measure" | "shared">;
  readonly client: Pick<Client, "requests">;
  readonly restored?: { readonly mark: RestoreMark } | undefined;
}

/** Measures of the store at one moment. A part that the store does not answer is `undefined`, without harm to the other. */
export interface StoreSample {
  readonly measures: InboxMeasures | undefined;
  /** `undefined` also if one process has the inbox for itself. */
  readonly shared: SharedReport | undefined;
}

/** Measures the store, as far as it answers. */
export async function sampleStore(inbox: StatusSources["inbox"]): Promise<StoreSample> {
  const unknown = () => undefined;
  const [measures, shared] = await Promise.all([
    inbox.measure().catch(unknown),
    inbox.shared?.report().catch(unknown),
  ]);
  return { measures, shared };
}

/** Reads the status. A store that does not answer is part of it, not a failure. */
export async function readStatus(sources: StatusSources): Promise<BotStatus> {
  const ready = await sources.isReady();
  return statusOf(sources, ready, await sampleStore(sources.inbox));
}

/** Returns the status at the time of a sample; `undefined` stands for a store that does not answer. */
export function statusOf(
  sources: Omit<StatusSources, "isReady">,
  ready: boolean,
  sample: StoreSample | undefined,
): BotStatus {
  const { clock, startedAt, receiver, poller, inbox, client, restored } = sources;
  const { measures, shared } = sample ?? {};
  const at = clock.now();
  const instances = shared && inbox.shared && instancesStatus(inbox.shared.id, shared, at);
  const ageOf = (then: number | undefined) =>
    then === undefined ? undefined : Math.max(0, at - then);
  const { mode, modeSince, modeReason, ...read } = poller?.status ?? {
    mode: "webhook" as const,
    modeSince: startedAt,
    modeReason: "DELIVERY=webhook",
  };
  return {
    at,
    ready,
    mode,
    modeSince,
    modeReason,
    lastDeliveryAt: latest([
      receiver.lastDeliveryAt,
      ...(instances?.list.map(({ lastDeliveryAt }) => lastDeliveryAt) ?? []),
    ]),
    log: "cursor" in read ? { ...read, lagMs: ageOf(read.readToEndAt) } : undefined,
    inbox: measures && {
      pending: measures.pending,
      oldestPendingAt: measures.oldestPendingAt,
      oldestPendingAgeMs: ageOf(measures.oldestPendingAt),
      deadLetters: measures.dead,
    },
    requests: client.requests,
    instances,
    restored: restored && {
      at: restored.mark.at,
      until: restored.mark.until,
      readAt: restored.mark.readAt,
    },
  };
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Answer of `/readyz?verbose`. */
export type WrittenStatus = Readonly<Record<Exclude<keyof BotStatus, "ready">, unknown>> & {
  readonly ready: boolean;
};

/**
 * Writes the status as JSON has it: every field is there, times are ISO 8601, null stands for undefined. Hosts and processes
 * are left out, because the answer may go to anyone with the token.
 */
export function writeStatus(status: BotStatus): WrittenStatus {
  return { ...status, ...writeFields(status) };
}

/** Names of fields with a time. */
const TIME = /^(at|until)$|(At|Since)$/;

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
  if (Array.isArray(value)) return value.map(writeFields);
  return typeof value === "object" && value !== null ? writeFields(value) : value;
}

/** Instances of a bot on one database. Times as in {@link BotStatus}. */
export interface InstancesStatus {
  /** Id of the instance that answers. */
  readonly self: string;
  /** Instances with a sign of life in the last 15 seconds, the oldest first. */
  readonly list: readonly InstanceStatus[];
  /** Lease on reading the event log; `undefined` if no instance ever had it. */
  readonly poller: PollerLease | undefined;
  /** Events that ended in the last 60 seconds, on all instances: done, dead or discarded. */
  readonly endedLastMinute: number;
}

/** One instance of a bot. Times as in {@link BotStatus}. */
export interface InstanceStatus {
  readonly id: string;
  /** Its machine. */
  readonly host: string;
  /** Its process there. */
  readonly pid: number;
  /** Version of service-bot. */
  readonly version: string;
  /** Time of its start. */
  readonly startedAt: number;
  /** Its last sign of life; there is one every 5 seconds. */
  readonly seenAt: number;
  /** Time of its last stored delivery; `undefined` before the first one. */
  readonly lastDeliveryAt: number | undefined;
}

/** Lease on reading the event log of the platform for all instances. */
export interface PollerLease {
  /** Id of the instance that reads the event log; `undefined` while none does. */
  readonly holder: string | undefined;
  /** Grows each time that another instance takes over. */
  readonly term: number;
  /** Time when another instance takes over, unless the lease is renewed, as every 5 seconds. */
  readonly expiresAt: number | undefined;
}

/** @param at time of the report, on the bot's clock */
function instancesStatus(self: string, report: SharedReport, at: number): InstancesStatus {
  const { instances, poller, endedLastMinute } = report;
  return {
    self,
    list: instances.map(({ id, host, pid, version, ...ago }) => ({
      ...{ id, host, pid, version },
      startedAt: at - ago.startedMsAgo,
      seenAt: at - ago.seenMsAgo,
      lastDeliveryAt: ago.deliveredMsAgo === undefined ? undefined : at - ago.deliveredMsAgo,
    })),
    poller: poller && {
      holder: poller.holder,
      term: poller.term,
      expiresAt: poller.holder === undefined ? undefined : at + poller.expiresInMs,
    },
    endedLastMinute,
  };
}
