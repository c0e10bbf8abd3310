import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EVENT_LOG, type Inbox, type Shared } from "../faces/inbox.ts";
import { ManualClock } from "../faces/testing.ts";
import { messages } from "../support/inbox-events.ts";

/** Opens inboxes in one place, each for an instance of its own. */
export type OpenTogether = (clock: ManualClock, instances: number) => Promise<readonly Inbox[]>;

const LEASE = 15_000;
const HERE = { host: "h", pid: 1, version: "1.0.0" };

/** What every inbox that several instances can use does for them, on the clock of the store alone. */
export function sharedContract(name: string, open: OpenTogether): void {
  describe(`instances on ${name}`, () => {
    let clock: ManualClock;
    let inboxes: readonly Inbox[];
    let one: Shared;
    let other: Shared;

    beforeEach(async () => {
      clock = new ManualClock(1_800_000_000_000);
      inboxes = await open(clock, 2);
      [one, other] = inboxes.map(sharedOf) as [Shared, Shared];
    });
    afterEach(async () => {
      for (const inbox of inboxes) await inbox.close();
    });

    const move = async (inbox: Inbox | undefined, position: string, term?: number) =>
      await inbox?.put([], "poll", [{ name: EVENT_LOG, position, term }]);

    describe("a lease", () => {
      test("is had by one, and its term grows with each leader", async () => {
        expect(await one.leases.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 1 });
        expect(await other.leases.lead(EVENT_LOG, LEASE)).toEqual({
          leads: false,
          expiresInMs: LEASE,
        });
        await one.leases.resign(EVENT_LOG, 1);
        expect(await other.leases.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        expect((await one.report()).poller).toEqual({
          holder: other.id,
          term: 2,
          expiresInMs: LEASE,
        });
      });

      test("that is renewed keeps its term, and ends when it is not", async () => {
        await one.leases.lead(EVENT_LOG, LEASE);
        await clock.advance(LEASE - 1);
        expect(await one.leases.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: true, term: 1 });
        await clock.advance(LEASE - 1);
        expect(await other.leases.lead(EVENT_LOG, LEASE)).toMatchObject({ expiresInMs: 1 });
        await clock.advance(1);
        expect(await other.leases.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        expect(await one.leases.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
      });

      test("that ran out and was taken by nobody is renewed with its term", async () => {
        await one.leases.lead(EVENT_LOG, LEASE);
        await clock.advance(LEASE * 3);
        expect(await one.leases.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: true, term: 1 });
      });

      test("of an earlier term is not renewed, although the same instance leads again", async () => {
        await one.leases.lead(EVENT_LOG, LEASE);
        expect(await one.leases.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        await clock.advance(1_000);
        expect(await one.leases.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
        expect((await one.report()).poller).toMatchObject({ term: 2, expiresInMs: LEASE - 1_000 });
      });

      test("that was handed back is not renewed, and a stale hand-back ends no other term", async () => {
        await one.leases.lead(EVENT_LOG, LEASE);
        await one.leases.resign(EVENT_LOG, 1);
        expect(await one.leases.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
        expect((await one.report()).poller).toEqual({ holder: undefined, term: 1, expiresInMs: 0 });
        await other.leases.lead(EVENT_LOG, LEASE);
        await one.leases.resign(EVENT_LOG, 1);
        await one.leases.resign(EVENT_LOG, 2);
        expect((await one.report()).poller).toMatchObject({ holder: other.id, term: 2 });
      });

      test("fences the cursor: a term that is over stores events, and moves nothing", async () => {
        const [inbox, next] = inboxes;
        await one.leases.lead(EVENT_LOG, LEASE);
        expect(await move(inbox, "10", 1)).not.toHaveProperty("termOver");
        await clock.advance(LEASE);
        // Nobody has taken over, and there is nobody to disturb.
        expect(await move(inbox, "11", 1)).not.toHaveProperty("termOver");
        await other.leases.lead(EVENT_LOG, LEASE);
        const late = await inbox?.put(messages("1"), "poll", [
          { name: EVENT_LOG, position: "12", term: 1 },
        ]);
        expect(late).toEqual({ stored: ["1"], duplicates: 0, unusable: 0, termOver: true });
        expect(await next?.cursor(EVENT_LOG)).toBe("11");
        expect(await move(next, "13", 2)).not.toHaveProperty("termOver");
        expect(await move(inbox, "14", 1)).toMatchObject({ termOver: true });
        expect(await inbox?.cursor(EVENT_LOG)).toBe("13");
      });

      test("fences notes, which the others read with their age", async () => {
        await one.leases.lead(EVENT_LOG, LEASE);
        expect(await other.notes.read(EVENT_LOG)).toBeUndefined();
        expect(await one.notes.write(EVENT_LOG, 1, "a\0")).toBe(true);
        await clock.advance(1_234);
        expect(await other.notes.read(EVENT_LOG)).toEqual({ text: "a\0", msAgo: 1_234 });
        await one.leases.resign(EVENT_LOG, 1);
        await other.leases.lead(EVENT_LOG, LEASE);
        expect(await one.notes.write(EVENT_LOG, 1, "late")).toBe(false);
        expect(await other.notes.read(EVENT_LOG)).toMatchObject({ text: "a\0" });
      });
    });

    describe("a new leader", () => {
      const gapOf = async (shared: Shared) => {
        const answer = await shared.leases.lead(EVENT_LOG, LEASE);
        return answer.leads && answer.afterGap;
      };

      test("comes after a gap when it is the first, or was not there with the last one", async () => {
        await one.beat(HERE, undefined);
        expect(await gapOf(one)).toBe(true);
        await one.leases.resign(EVENT_LOG, 1);
        await one.leave();
        await clock.advance(1_000);
        await other.beat(HERE, undefined);
        expect(await gapOf(other)).toBe(true);
      });

      test("goes on without one where somebody was there all the time", async () => {
        await one.beat(HERE, undefined);
        await other.beat(HERE, undefined);
        await gapOf(one);
        await clock.advance(5_000);
        await other.beat(HERE, undefined);
        await one.leases.resign(EVENT_LOG, 1);
        expect(await gapOf(other)).toBe(false);
      });

      test("comes after a gap where the last one had gone without a word, and all others with it", async () => {
        await one.beat(HERE, undefined);
        await gapOf(one);
        await clock.advance(1_000);
        // Started while the lease of the one that is gone still holds.
        await other.beat(HERE, undefined);
        await clock.advance(LEASE);
        await other.beat(HERE, undefined);
        expect(await gapOf(other)).toBe(true);
      });
    });

    describe("instances", () => {
      test("are listed while they give signs of life, the oldest first", async () => {
        expect(await one.beat(HERE, undefined)).toBe(1);
        await clock.advance(1_000);
        expect(await other.beat({ ...HERE, pid: 2 }, 400)).toBe(2);
        expect((await one.report()).instances).toEqual([
          { id: one.id, ...HERE, startedMsAgo: 1_000, seenMsAgo: 1_000, deliveredMsAgo: undefined },
          { id: other.id, ...HERE, pid: 2, startedMsAgo: 0, seenMsAgo: 0, deliveredMsAgo: 400 },
        ]);
        await clock.advance(14_000);
        expect(await other.beat(HERE, undefined)).toBe(1);
        expect((await one.report()).instances).toMatchObject([{ id: other.id }]);
        await other.leave();
        expect((await one.report()).instances).toEqual([]);
      });

      test("count together what has ended in the last minute", async () => {
        const [inbox, next] = inboxes;
        for (const ended of [inbox, next]) {
          await ended?.put(messages(`${ended === inbox}`), "webhook");
          const [claim] = (await ended?.claim(1, 1_000)) ?? [];
          if (claim !== undefined) await ended?.complete(claim);
          await clock.advance(30_000);
        }
        expect((await one.report()).endedLastMinute).toBe(1);
      });

      test("read each other's deliveries once, in their order, and those of the last minutes alone", async () => {
        const of = (id: string) => [{ id, type: "dm.message" }];
        await one.deliveries.add([{ msAgo: 20, events: of("2\0") }]);
        await other.deliveries.add([
          { msAgo: 50, events: of("1") },
          { msAgo: 10, events: [] },
        ]);
        expect(await one.deliveries.read()).toEqual([
          { msAgo: 50, events: of("1") },
          { msAgo: 20, events: of("2\0") },
          { msAgo: 10, events: [] },
        ]);
        expect(await one.deliveries.read()).toEqual([]);
        await clock.advance(20_000);
        expect(await other.deliveries.read()).toHaveLength(3);
        await other.deliveries.add([{ msAgo: 0, events: of("3") }]);
        expect(await other.deliveries.read()).toHaveLength(1);
        expect(await one.deliveries.read()).toEqual([{ msAgo: 0, events: of("3") }]);
        await clock.advance(300_000);
        await one.deliveries.add([{ msAgo: 0, events: of("4") }]);
        const later = await open(clock, 1);
        inboxes = [...inboxes, ...later];
        for (const third of later.map(sharedOf)) {
          expect(await third.deliveries.read()).toEqual([{ msAgo: 0, events: of("4") }]);
        }
        expect(await other.deliveries.read()).toHaveLength(1);
      });
    });

    describe("a circuit", () => {
      const platform = { name: "platform", opened: 1, openMs: 1_000, asked: false };

      test("that one opens is open for all, for the longest time that anybody says", async () => {
        const { version } = await one.circuits.open(platform);
        expect(await other.circuits.list()).toEqual([{ ...platform, version }]);
        const longer = { ...platform, opened: 2, openMs: 5_000, asked: true };
        expect(await other.circuits.open(longer)).toMatchObject(longer);
        expect(await one.circuits.open(platform)).toMatchObject({
          opened: 2,
          openMs: 5_000,
          asked: true,
        });
      });

      test("is tried by one at a time, once its time has come", async () => {
        await one.circuits.open(platform);
        expect(await other.circuits.claim("platform", 10_000)).toEqual({ kind: "wait", ms: 1_000 });
        await clock.advance(1_000);
        const both = await Promise.all(
          [one, other].map((at) => at.circuits.claim("platform", 10_000)),
        );
        expect(both.filter(({ kind }) => kind === "granted")).toHaveLength(1);
        expect(both.filter(({ kind }) => kind === "wait")).toHaveLength(1);
        expect(await one.circuits.claim("platform", 1)).toEqual({ kind: "wait", ms: 10_000 });
        // Whoever tried is gone.
        await clock.advance(10_000);
        expect(await one.circuits.claim("platform", 10_000)).toEqual({ kind: "granted" });
        await one.circuits.leave("platform");
        expect(await other.circuits.claim("platform", 10_000)).toEqual({ kind: "granted" });
      });

      test("is closed for all, unless somebody has opened it anew", async () => {
        const { version } = await one.circuits.open(platform);
        const again = await other.circuits.open(platform);
        await one.circuits.close("platform", version);
        expect(await one.circuits.list()).toHaveLength(1);
        await one.circuits.close("platform", again.version);
        expect(await other.circuits.list()).toEqual([]);
        expect(await other.circuits.claim("platform", 1)).toEqual({ kind: "closed" });
        expect(await other.circuits.open(platform)).toMatchObject({ ...platform });
      });
    });

    describe("the budget", () => {
      const HOLD = 70_000;

      test("has each place once, however many take at the same moment", async () => {
        await Promise.all([one.budget.prepare(20), other.budget.prepare(20)]);
        const takes = await Promise.all(
          Array.from({ length: 12 }, (_, n) =>
            (n % 2 === 0 ? one : other).budget.take(20, 3, 0, HOLD),
          ),
        );
        const numbers = takes.flatMap((taken) => taken.numbers);
        const rest = await one.budget.take(20, 100, 0, HOLD);
        expect([...numbers, ...rest.numbers].sort((a, b) => a - b)).toEqual(
          Array.from({ length: 20 }, (_, n) => n + 1),
        );
        expect(rest.free).toBe(0);
        expect(await other.budget.take(20, 1, 0, HOLD)).toMatchObject({ numbers: [], free: 0 });
      });

      test("leaves places to others, and tells when more come free", async () => {
        await one.budget.prepare(4);
        const taken = await one.budget.take(4, 10, 1, HOLD);
        expect(taken).toMatchObject({ numbers: [1, 2, 3], free: 1 });
        await one.budget.settle([
          { grip: taken.grip, number: 1, freeInMs: 60_000 },
          { grip: taken.grip, number: 2, freeInMs: 0 },
        ]);
        expect(await other.budget.take(4, 0, 0, HOLD)).toMatchObject({
          numbers: [],
          free: 2,
          freeInMs: [60_000, HOLD],
        });
        await clock.advance(60_000);
        expect(await other.budget.take(4, 10, 0, HOLD)).toMatchObject({ numbers: [1, 2, 4] });
        await clock.advance(HOLD - 60_000);
        expect(await other.budget.take(4, 10, 0, HOLD)).toMatchObject({ numbers: [3] });
      });

      test("does not let go of a place for one that had it before", async () => {
        await one.budget.prepare(1);
        const before = await one.budget.take(1, 1, 0, HOLD);
        await clock.advance(HOLD);
        await other.budget.take(1, 1, 0, HOLD);
        await one.budget.settle([{ grip: before.grip, number: 1, freeInMs: 0 }]);
        expect(await one.budget.take(1, 1, 0, HOLD)).toMatchObject({ numbers: [] });
      });

      test("of a smaller number is kept within by those that have it", async () => {
        await one.budget.prepare(5);
        await other.budget.prepare(2);
        expect(await other.budget.take(2, 10, 0, HOLD)).toMatchObject({ numbers: [1, 2] });
        expect(await one.budget.take(5, 10, 0, HOLD)).toMatchObject({ numbers: [3, 4, 5] });
      });
    });
  });
}

function sharedOf(inbox: Inbox): Shared {
  if (inbox.shared === undefined) throw new Error("this inbox is of one instance");
  return inbox.shared;
}
