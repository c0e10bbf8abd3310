import type { InboxMeasures } from "../inbox/admin.ts";
import { ageAt } from "./age.ts";
import type { Measure } from "./measure.ts";

/** Pending events and dead letters. */
export interface InboxStatus {
  /** Events not handled yet, including events waiting for a retry. */
  readonly pending: number;
  /** Time when the oldest pending event was received. */
  readonly oldestPendingAt: number | undefined;
  /** Age of the oldest pending event in ms. */
  readonly oldestPendingAgeMs: number | undefined;
  /** Events that are not handled unless an operator retries them. */
  readonly deadLetters: number;
}

export function inboxStatusOf(
  { pending, oldestPendingAt, dead }: InboxMeasures,
  at: number,
): InboxStatus {
  return {
    pending,
    oldestPendingAt,
    oldestPendingAgeMs: ageAt(at, oldestPendingAt),
    deadLetters: dead,
  };
}

export const inboxMeasures: readonly Measure<InboxStatus | undefined>[] = [
  {
    name: "store_up",
    help: "1 if the store responded to this scrape in time.",
    read: (inbox) => (inbox === undefined ? 0 : 1),
  },
  {
    name: "events_pending",
    help: "Events not handled yet, on all instances.",
    read: (inbox) => inbox?.pending ?? Number.NaN,
  },
  {
    name: "oldest_pending_age_seconds",
    help: "Age of the oldest pending event; 0 if none.",
    read: (inbox) => (inbox === undefined ? Number.NaN : (inbox.oldestPendingAgeMs ?? 0) / 1000),
  },
  {
    name: "dead_letters",
    help: "Dead letters, on all instances.",
    read: (inbox) => inbox?.deadLetters ?? Number.NaN,
  },
];
