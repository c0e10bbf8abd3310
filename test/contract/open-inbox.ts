import { afterEach, beforeEach } from "vitest";
import type { Claim, Inbox } from "../faces/inbox.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { messages } from "../support/inbox-events.ts";

export type OpenInbox = (options: {
  readonly clock: ManualClock;
  readonly maxBacklog?: number;
}) => Promise<Inbox>;

/** Lease duration in ms. */
export const LEASE = 30_000;

/** An inbox with a manual clock, and shortcuts for common operations. Each test gets a new inbox. */
export interface Bench {
  inbox: Inbox;
  clock: ManualClock;
  claim(): Promise<Claim>;
  /** Stores messages in one conversation, then buries them in order, one millisecond apart. */
  bury(...ids: readonly string[]): Promise<void>;
}

/** Call it inside a `describe`, because it registers hooks. */
export function bench(open: OpenInbox): Bench {
  const clock = new ManualClock(1_800_000_000_000);
  const made: Partial<Bench> = {};
  const it = (): Inbox => {
    if (made.inbox === undefined) throw new Error("the inbox is opened before each test");
    return made.inbox;
  };
  const claim = async () => first(await it().claim(1, LEASE));
  beforeEach(async () => {
    made.inbox = await open({ clock });
  });
  afterEach(async () => {
    await it().close();
  });
  return {
    get inbox() {
      return it();
    },
    clock,
    claim,
    bury: async (...ids) => {
      for (const id of ids) {
        await it().put(messages(id), "webhook");
        await it().bury(await claim(), `Error: ${id} is broken`);
        await clock.advance(1);
      }
    },
  };
}
