import type { SharedReport } from "../inbox/shared.ts";

/** A bot's instances that share a database. Times are as in {@link BotStatus}. */
export interface InstancesStatus {
  /** Id of the responding instance. */
  readonly self: string;
  /** Instances with a heartbeat in the last 15 seconds, oldest first. */
  readonly list: readonly InstanceStatus[];
  /** Lease on reading the event log. `undefined` if no instance has ever held it. */
  readonly poller: PollerLease | undefined;
  /** Number of events that became done, dead or discarded in the last 60 seconds, on all instances. */
  readonly endedLastMinute: number;
}

/** An instance of a bot. Times are as in {@link BotStatus}. */
export interface InstanceStatus {
  /** Random id of the instance. */
  readonly id: string;
  /** The machine's host name. */
  readonly host: string;
  /** Process id. */
  readonly pid: number;
  /** Version of service-bot. */
  readonly version: string;
  /** Time when the instance started. */
  readonly startedAt: number;
  /** Time of the last heartbeat. Instances send one every 5 seconds. */
  readonly seenAt: number;
  /** Time when the instance last stored a delivery. `undefined` if it has stored none. */
  readonly lastDeliveryAt: number | undefined;
}

/** Lease on reading the platform's event log for all instances. */
export interface PollerLease {
  /** Id of the instance reading the event log. `undefined` if there is none. */
  readonly holder: string | undefined;
  /** Increases each time another instance takes over. */
  readonly term: number;
  /** Time when another instance may take over, unless the lease is renewed. It is renewed every 5 seconds. */
  readonly expiresAt: number | undefined;
}

/** @param at time of the report, on the bot's clock */
export function instancesStatusOf(self: string, report: SharedReport, at: number): InstancesStatus {
  const { instances, poller, endedLastMinute } = report;
  return {
    self,
    list: instances.map(({ startedMsAgo, seenMsAgo, deliveredMsAgo, ...instance }) => ({
      ...instance,
      startedAt: at - startedMsAgo,
      seenAt: at - seenMsAgo,
      lastDeliveryAt: deliveredMsAgo === undefined ? undefined : at - deliveredMsAgo,
    })),
    poller: poller && {
      holder: poller.holder,
      term: poller.term,
      expiresAt: poller.holder === undefined ? undefined : at + poller.expiresInMs,
    },
    endedLastMinute,
  };
}
