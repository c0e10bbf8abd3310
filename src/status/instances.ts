import type { SharedReport } from "../inbox/shared.ts";

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
export function instancesStatus(self: string, report: SharedReport, at: number): InstancesStatus {
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
export function writeInstances(status: InstancesStatus): WrittenInstances {
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

export function iso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
