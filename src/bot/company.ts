import { hostname } from "node:os";
import type { Sharing } from "../client/gate.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { version } from "../core/version.ts";
import type { Shared } from "../inbox/shared.ts";
import { Membership, type OnUnusable } from "../instances/membership.ts";
import { SharedBreakers } from "../instances/shared-breakers.ts";
import { SharedPlaces } from "../instances/shared-places.ts";
import { type Peers, SharedPeers } from "../poller/peers.ts";

/** What a bot has together with its other instances. */
export interface Company {
  readonly sharing: Sharing;
  readonly peers: Peers | undefined;
  /**
   * Resolves once the others know of this instance, and this one of what they have together.
   *
   * @param onUnusable told when the inbox is not this instance's to use any more
   * @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED; STORE_UNAVAILABLE when it is not known
   *   whether the inbox may be used
   */
  start(onUnusable: OnUnusable): Promise<void>;
  /** Gives back what this instance holds. */
  stop(): Promise<void>;
}

/** Of a bot that is one process. */
const none: Company = {
  sharing: {},
  peers: undefined,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

export interface CompanyOptions {
  /** Undefined where only one process can use the inbox. */
  readonly shared: Shared | undefined;
  readonly config: Pick<Config, "maxRequestsPerMinute">;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a request to the platform can take, in milliseconds. */
  readonly requestMs: number;
  readonly lastDeliveryAt: () => number | undefined;
  /** How long the reading of the log stays with an instance that gives no sign of life, in milliseconds. */
  readonly pollerLeaseMs?: number | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** A trial of the platform is over, or its instance is gone, this long after its request is, in milliseconds. */
const TRIAL_SLACK_MS = 2_000;

export function makeCompany(options: CompanyOptions): Company {
  const { shared, config, clock, log, requestMs, lastDeliveryAt, bot } = options;
  if (shared === undefined) return none;
  const base = { shared, clock, log };
  const details = { host: hostname(), pid: process.pid, version: version() };
  const membership = new Membership({ ...base, details, lastDeliveryAt });
  const breakers = new SharedBreakers({ shared, log, trialMs: requestMs + TRIAL_SLACK_MS });
  const total = config.maxRequestsPerMinute;
  const sharers = () => membership.count;
  const places =
    total === undefined ? undefined : new SharedPlaces({ ...base, total, requestMs, sharers });
  return {
    sharing: { breakers, places },
    peers: new SharedPeers({ ...base, leaseMs: options.pollerLeaseMs, bot }),
    async start(onUnusable) {
      await membership.start(onUnusable);
      await Promise.all([breakers.start(), places?.start()]);
    },
    async stop() {
      await Promise.all([breakers.stop(), places?.stop()]);
      await membership.stop();
    },
  };
}
