import type { Client } from "../client/client.ts";
import type { RequestsStatus } from "../client/limits.ts";
import type { Clock } from "../core/clock.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { RestoreMark } from "../inbox/restore-mark.ts";
import type { SharedReport } from "../inbox/shared.ts";
import type { Mode } from "../poller/mode.ts";
import type { Poller } from "../poller/poller.ts";
import type { PollerStatus } from "../poller/record.ts";
import type { Receiver } from "../receiver/receive.ts";

/**
 * How a bot is doing, without secrets and without anything that people wrote. Times are milliseconds since
 * 1970 on the bot's clock, which is not moved when the system's time is set; `/readyz?verbose` writes
 * them as ISO 8601 in UTC, and null for undefined. What lies before the start of the process is not
 * remembered, except for `inbox` and the cursor.
 */
export interface BotStatus {
  /** When this was the status. */
  readonly at: number;
  /** What `/readyz` answers with 200: the bot has started, is not stopping, and its store answers. */
  readonly ready: boolean;
  /**
   * `auditing`: the webhook brings the events, and the log is read now and then; `polling`: the log brings
   * them; `webhook`: the log is never read (DELIVERY=webhook).
   */
  readonly mode: Mode | "webhook";
  /** When the mode began: with the last switch, or with the start. */
  readonly modeSince: number;
  /** The reason of the last switch, for people; before the first one, why the bot began in this mode. */
  readonly modeReason: string;
  /** When the last delivery was stored, duplicates and empty ones included, on any instance. */
  readonly lastDeliveryAt: number | undefined;
  /** Undefined when the log is never read. */
  readonly log: LogStatus | undefined;
  /** Undefined when the store does not answer. */
  readonly inbox: InboxStatus | undefined;
  /** This instance's budget of requests to the platform; undefined without MAX_REQUESTS_PER_MINUTE. */
  readonly requests: RequestsStatus | undefined;
  /** Undefined where a bot is one process (SQLite), and when the store does not answer. */
  readonly instances: InstancesStatus | undefined;
  /** Undefined where the inbox did not come from a backup. */
  readonly restored: RestoredStatus | undefined;
}

/** An inbox that came from a backup, and what may have been done since that was taken. */
export interface RestoredStatus {
  /** When it was restored. */
  readonly at: number;
  /** What was made after this was not handled before the restore; undefined until the platform's time is known. */
  readonly until: number | undefined;
  /** When the log was read to its end since, so that the events after the backup are back; undefined until then. */
  readonly readAt: number | undefined;
}

/** How far the platform's event log has been read. */
export interface LogStatus
  extends Pick<PollerStatus, "cursor" | "lastPollAt" | "lastPollError" | "readToEndAt"> {
  /**
   * How long ago `readToEndAt` was, in milliseconds: what the log showed by then is in the inbox, so nothing
   * that the webhook lost has been missing for longer than this. The exception is an event that the platform
   * entered late, out of order: the next audit finds it. Up to the interval of the mode, and the time
   * that a read takes, is normal. Undefined until the end was reached.
   */
  readonly lagMs: number | undefined;
}

/** What waits in the inbox, and what has been given up. */
export interface InboxStatus {
  /** Events that are not handled yet, those that wait for a retry included. */
  readonly pending: number;
  /** When the oldest of them was received. */
  readonly oldestPendingAt: number | undefined;
  /** The same as an age, in milliseconds. */
  readonly oldestPendingAgeMs: number | undefined;
  /** Events that will not be handled unless a person retries them. */
  readonly deadLetters: number;
}

/** Where a status comes from. */
export interface StatusSources {
  readonly clock: Clock;
  /** When the bot was started, on that clock. */
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

/** What `/readyz?verbose` answers. */
export type WrittenStatus = Readonly<Record<Exclude<keyof BotStatus, "ready">, unknown>> & {
  readonly ready: boolean;
};

/** The status as JSON has it: every field is there, times are ISO 8601, null stands for undefined. */
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

/** The instances of a bot on one database, and what they do together. Times as in {@link BotStatus}. */
export interface InstancesStatus {
  /** The id of the one that tells this. */
  readonly self: string;
  /** Those that gave a sign of life in the last 15 seconds, the oldest first. */
  readonly list: readonly InstanceStatus[];
  /** Who reads the event log; undefined where nobody ever did. */
  readonly poller: PollerLease | undefined;
  /** How many events ended in the last 60 seconds, on all instances: done, dead or discarded. */
  readonly endedLastMinute: number;
}

/** One instance of a bot. Times as in {@link BotStatus}. */
export interface InstanceStatus {
  readonly id: string;
  /** The machine that it runs on. */
  readonly host: string;
  /** Its process there. */
  readonly pid: number;
  /** Of service-bot. */
  readonly version: string;
  /** When it was started. */
  readonly startedAt: number;
  /** Its last sign of life; there is one every 5 seconds. */
  readonly seenAt: number;
  /** When it stored its last delivery; undefined before the first one. */
  readonly lastDeliveryAt: number | undefined;
}

/** Who reads the event log of the platform, for all instances. */
export interface PollerLease {
  /** The id of the instance that reads the event log; undefined while none does. */
  readonly holder: string | undefined;
  /** Grows each time that somebody else takes over. */
  readonly term: number;
  /** When another instance takes over unless the lease is renewed, which it is every 5 seconds. */
  readonly expiresAt: number | undefined;
}

/** @param at when the report was made, on the bot's clock */
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

/** Hosts and processes are left out: anybody may ask. */
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
