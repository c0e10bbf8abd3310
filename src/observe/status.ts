import type { Client } from "../client/client.ts";
import type { RequestsStatus } from "../client/request-limiter.ts";
import type { Clock } from "../core/clock.ts";
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

/** Reads the status. A store that does not answer is part of it, not a failure. */
export async function readStatus(sources: StatusSources): Promise<BotStatus> {
  const { clock, startedAt, isReady, receiver, poller, inbox, client, restored } = sources;
  const ready = await isReady();
  const measures = await inbox.measure().catch(() => undefined);
  const report = await inbox.shared?.report().catch(() => undefined);
  const at = clock.now();
  const instances = report && inbox.shared && instancesStatus(inbox.shared.id, report, at);
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
    restored: restored && restoredStatus(restored.mark),
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

/** Writes the status as JSON has it: every field is there, times are ISO 8601, null stands for undefined. */
export function writeStatus(status: BotStatus): WrittenStatus {
  const { at, ready, mode, modeSince, modeReason, lastDeliveryAt, log, inbox, requests } = status;
  const { instances, restored } = status;
  return {
    at: iso(at),
    ready,
    mode,
    modeSince: iso(modeSince),
    modeReason,
    lastDeliveryAt: iso(lastDeliveryAt),
    log: log === undefined ? null : writeLog(log),
    inbox: inbox === undefined ? null : writeInbox(inbox),
    requests: requests ?? null,
    instances: instances === undefined ? null : writeInstances(instances),
    restored: restored === undefined ? null : writeRestored(restored),
  };
}

function restoredStatus({ at, until, readAt }: RestoreMark): RestoredStatus {
  return { at, until, readAt };
}

function writeRestored({ at, until, readAt }: RestoredStatus) {
  return { at: iso(at), until: iso(until), readAt: iso(readAt) };
}

function writeLog({ cursor, lastPollAt, lastPollError: error, readToEndAt, lagMs }: LogStatus) {
  return {
    cursor: cursor ?? null,
    lastPollAt: iso(lastPollAt),
    lastPollError: error === undefined ? null : { code: error.code, status: error.status ?? null },
    readToEndAt: iso(readToEndAt),
    lagMs: lagMs ?? null,
  };
}

function writeInbox({ pending, oldestPendingAt, oldestPendingAgeMs, deadLetters }: InboxStatus) {
  return {
    pending,
    oldestPendingAt: iso(oldestPendingAt),
    oldestPendingAgeMs: oldestPendingAgeMs ?? null,
    deadLetters,
  };
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

/** {@link InstancesStatus} as JSON has it. */
export type WrittenInstances = Readonly<Record<keyof InstancesStatus, unknown>>;

/** Leaves out hosts and processes, because the answer may go to anyone with the token. */
function writeInstances(status: InstancesStatus): WrittenInstances {
  const { self, list, poller, endedLastMinute } = status;
  const instances = list.map(({ id, version, startedAt, seenAt, lastDeliveryAt }) => ({
    id,
    version,
    startedAt: iso(startedAt),
    seenAt: iso(seenAt),
    lastDeliveryAt: iso(lastDeliveryAt),
  }));
  const lease = poller && {
    holder: poller.holder ?? null,
    term: poller.term,
    expiresAt: iso(poller.expiresAt),
  };
  return { self, list: instances, poller: lease ?? null, endedLastMinute };
}

function iso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
