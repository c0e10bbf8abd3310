import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EVENT_LOG, type Inbox, type Shared } from "../faces/inbox.ts";
import { ManualClock } from "../faces/testing.ts";
import { messages } from "../support/inbox-events.ts";

/** Opens an inbox per instance, all on the same store. */
export type OpenTogether = (clock: ManualClock, instances: number) => Promise<readonly Inbox[]>;

const LEASE = 15_000;
const HERE = { host: "h", pid: 1, version: "1.0.0" };

/** Tests an inbox shared by several instances. The instances rely only on the store's clock. */
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
        expect(await one.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 1 });
        expect(await other.lead(EVENT_LOG, LEASE)).toEqual({
          leads: false,
          expiresInMs: LEASE,
        });
        await one.resign(EVENT_LOG, 1);
        expect(await other.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        expect((await one.report()).poller).toEqual({
          holder: other.id,
          term: 2,
          expiresInMs: LEASE,
        });
      });

      test("that is renewed keeps its term, and ends when it is not", async () => {
        await one.lead(EVENT_LOG, LEASE);
        await clock.advance(LEASE - 1);
        expect(await one.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: true, term: 1 });
        await clock.advance(LEASE - 1);
        expect(await other.lead(EVENT_LOG, LEASE)).toMatchObject({ expiresInMs: 1 });
        await clock.advance(1);
        expect(await other.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        expect(await one.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
      });

      test("that expired without a new holder is renewed with its term", async () => {
        await one.lead(EVENT_LOG, LEASE);
        await clock.advance(LEASE * 3);
        expect(await one.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: true, term: 1 });
      });

      test("of an earlier term is not renewed, although the same instance leads again", async () => {
        await one.lead(EVENT_LOG, LEASE);
        expect(await one.lead(EVENT_LOG, LEASE)).toMatchObject({ leads: true, term: 2 });
        await clock.advance(1_000);
        expect(await one.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
        expect((await one.report()).poller).toMatchObject({ term: 2, expiresInMs: LEASE - 1_000 });
      });

      test("that was handed back is not renewed, and a stale hand-back ends no other term", async () => {
        await one.lead(EVENT_LOG, LEASE);
        await one.resign(EVENT_LOG, 1);
        expect(await one.lead(EVENT_LOG, LEASE, 1)).toMatchObject({ leads: false });
        expect((await one.report()).poller).toEqual({ holder: undefined, term: 1, expiresInMs: 0 });
        await other.lead(EVENT_LOG, LEASE);
        await one.resign(EVENT_LOG, 1);
        await one.resign(EVENT_LOG, 2);
        expect((await one.report()).poller).toMatchObject({ holder: other.id, term: 2 });
      });

      test("fences the cursor: a term that is over stores events, and moves nothing", async () => {
        const [inbox, next] = inboxes;
        await one.lead(EVENT_LOG, LEASE);
        expect(await move(inbox, "10", 1)).not.toHaveProperty("termOver");
        await clock.advance(LEASE);
        expect(await move(inbox, "11", 1)).not.toHaveProperty("termOver");
        await other.lead(EVENT_LOG, LEASE);
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
        await one.lead(EVENT_LOG, LEASE);
        expect(await other.readNote(EVENT_LOG)).toBeUndefined();
        expect(await one.writeNote(EVENT_LOG, 1, "a\0")).toBe(true);
        await clock.advance(1_234);
        expect(await other.readNote(EVENT_LOG)).toEqual({ text: "a\0", msAgo: 1_234 });
        await one.resign(EVENT_LOG, 1);
        await other.lead(EVENT_LOG, LEASE);
        expect(await one.writeNote(EVENT_LOG, 1, "late")).toBe(false);
        expect(await other.readNote(EVENT_LOG)).toMatchObject({ text: "a\0" });
      });
    });

    describe("a new leader", () => {
      const gapOf = async (shared: Shared) => {
        const answer = await shared.lead(EVENT_LOG, LEASE);
        return answer.leads && answer.afterGap;
      };

      test("comes after a gap when it is the first, or was not there with the last one", async () => {
        await one.beat(HERE, undefined);
        expect(await gapOf(one)).toBe(true);
        await one.resign(EVENT_LOG, 1);
        await one.leave();
        await clock.advance(1_000);
        await other.beat(HERE, undefined);
        expect(await gapOf(other)).toBe(true);
      });

      test("continues without one if another instance was running all the time", async () => {
        await one.beat(HERE, undefined);
        await other.beat(HERE, undefined);
        await gapOf(one);
        await clock.advance(5_000);
        await other.beat(HERE, undefined);
        await one.resign(EVENT_LOG, 1);
        expect(await gapOf(other)).toBe(false);
      });

      test("comes after a gap where the last one had gone without a word, and all others with it", async () => {
        await one.beat(HERE, undefined);
        await gapOf(one);
        await clock.advance(1_000);
        // This instance starts while the stopped instance's lease is still valid.
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
        await one.addDeliveries([{ msAgo: 20, events: of("2\0") }]);
        await other.addDeliveries([
          { msAgo: 50, events: of("1") },
          { msAgo: 10, events: [] },
        ]);
        expect(await one.readDeliveries()).toEqual([
          { msAgo: 50, events: of("1") },
          { msAgo: 20, events: of("2\0") },
          { msAgo: 10, events: [] },
        ]);
        expect(await one.readDeliveries()).toEqual([]);
        await clock.advance(20_000);
        expect(await other.readDeliveries()).toHaveLength(3);
        await other.addDeliveries([{ msAgo: 0, events: of("3") }]);
        expect(await other.readDeliveries()).toHaveLength(1);
        expect(await one.readDeliveries()).toEqual([{ msAgo: 0, events: of("3") }]);
        await clock.advance(300_000);
        await one.addDeliveries([{ msAgo: 0, events: of("4") }]);
        const later = await open(clock, 1);
        inboxes = [...inboxes, ...later];
        for (const third of later.map(sharedOf)) {
          expect(await third.readDeliveries()).toEqual([{ msAgo: 0, events: of("4") }]);
        }
        expect(await other.readDeliveries()).toHaveLength(1);
      });
    });
  });
}

function sharedOf(inbox: Inbox): Shared {
  if (inbox.shared === undefined) throw new Error("this inbox cannot be shared");
  return inbox.shared;
}
