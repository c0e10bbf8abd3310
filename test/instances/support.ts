import { onTestFinished } from "vitest";
import type { PostgresInbox } from "../faces/inbox-postgres.ts";
import type { ManualClock } from "../faces/testing.ts";
import { listening } from "../support/postgres/listening.ts";
import { emptyPlace, openAt } from "../support/postgres/open.ts";

/** Two instances on one inbox, on a clock that stands still. */
export async function twoInboxes(clock: ManualClock): Promise<[PostgresInbox, PostgresInbox]> {
  const place = await emptyPlace();
  const options = { clock, now: () => clock.now() };
  const inboxes = [await openAt(place, options), await openAt(place, options)] as const;
  await listening(place, inboxes.length);
  return [...inboxes];
}

/** Starts something that ends before its inbox does. */
export async function running<T extends { start(): Promise<void>; stop(): Promise<void> }>(
  part: T,
): Promise<T> {
  await part.start();
  onTestFinished(() => part.stop());
  return part;
}

/** Resolves once this holds; what is on the network is waited for, a statement at a time. */
export async function until(
  inbox: PostgresInbox,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await holds())) await inbox.ping();
}
