import { describe, expect, test } from "vitest";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

export function historyContract(open: OpenInbox): void {
  describe("the history of an event", () => {
    const b = bench(open);
    const history = async (id = "1") => (await b.inbox.admin.show(id)).history;

    test("has each run that did not end well, with its number, its error and its time", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const began = b.clock.now();
      await b.inbox.retry(await b.claim(), 5, "Error: one");
      await b.clock.advance(5);
      await b.inbox.release(await b.claim(), 5, "NetworkError: away");
      await b.clock.advance(5);
      await b.inbox.bury(await b.claim(), "Error: two");
      expect(await history()).toEqual([
        { number: 1, outcome: "failed", error: "Error: one", endedAt: began },
        { number: 2, outcome: "released", error: "NetworkError: away", endedAt: began + 5 },
        { number: 2, outcome: "dead", error: "Error: two", endedAt: began + 10 },
      ]);
    });

    test("has nothing of an event that is handled at once", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.complete(await b.claim());
      expect(await history()).toEqual([]);
    });

    test("has nothing of a claim that is handed back before its handler has begun", async () => {
      const whole = async (id: string) => {
        const { attempts, history, error } = await b.inbox.admin.show(id);
        return { attempts, outcomes: history.map(({ outcome }) => outcome), error };
      };
      await b.inbox.put(messages("1", "2"), "webhook");
      expect(await b.inbox.release(await b.claim(), 5)).toBe(true);
      expect(await whole("1")).toEqual({ attempts: 0, outcomes: [], error: undefined });
      expect(await b.inbox.nextReadyIn()).toBe(5);
      await b.clock.advance(5);
      const claim = await b.claim();
      expect(claim).toMatchObject({ id: "1", attempt: 1, crashes: 0 });
      const { next } = await b.inbox.advance(claim);
      if (next === undefined) throw new Error("the lane was let go");
      expect(await b.inbox.release(next, 0)).toBe(true);
      expect(await b.inbox.release(next, 0)).toBe(false);
      expect(await whole("2")).toEqual({ attempts: 0, outcomes: [], error: undefined });
      // Runs before and after the release count as attempts.
      await b.inbox.retry(await b.claim(), 0, "Error: boom");
      await b.inbox.release(await b.claim(), 0);
      expect(await whole("2")).toEqual({ attempts: 1, outcomes: ["failed"], error: "Error: boom" });
      expect(await b.claim()).toMatchObject({ attempt: 2, crashes: 0 });
      await b.clock.advance(LEASE);
      expect(await b.claim()).toMatchObject({ attempt: 3, crashes: 1 });
      expect(await whole("2")).toMatchObject({ attempts: 3, outcomes: ["failed", "crashed"] });
    });

    test("has a run whose lease expired, and nothing that the run reports later", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const lost = await b.claim();
      await b.clock.advance(LEASE);
      const held = await b.claim();
      await b.inbox.retry(lost, 0, "x");
      await b.inbox.release(lost, 0, "x");
      await b.inbox.bury(lost, "x");
      const crashed = { number: 1, outcome: "crashed", error: undefined, endedAt: b.clock.now() };
      expect(await history()).toEqual([crashed]);
      await b.inbox.retry(held, 0, "Error: boom");
      await b.claim();
      expect(await history()).toEqual([crashed, expect.objectContaining({ outcome: "failed" })]);
    });

    test("counts a run whose lease ran out, also when an earlier event comes first by then", async () => {
      await b.inbox.put(messages("2"), "webhook");
      await b.claim();
      await b.clock.advance(LEASE);
      await b.inbox.put(messages("1"), "poll");
      const claim = await b.claim();
      expect(claim).toMatchObject({ id: "1", attempt: 1, crashes: 0 });
      expect(await b.inbox.complete(claim)).toBe(true);
      expect(await b.claim()).toMatchObject({ id: "2", attempt: 2 });
    });

    test("events that crashed twice run one at a time, and other events beside them", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
      const claimAll = async () => (await b.inbox.claim(10, LEASE)).map(({ id }) => id);
      for (let crashes = 0; crashes < 2; crashes++) {
        expect(await claimAll()).toHaveLength(3);
        await b.clock.advance(LEASE);
      }
      await b.inbox.put([message("4", "d")], "webhook");
      const [suspect, other, ...more] = await b.inbox.claim(10, LEASE);
      expect(more).toEqual([]);
      expect([suspect?.attempt, other?.id]).toEqual([3, "4"]);
      await b.clock.advance(1_000);
      expect(await claimAll()).toEqual([]);
      if (suspect !== undefined) await b.inbox.complete(suspect);
      await b.clock.advance(1_000);
      const [next, ...rest] = await b.inbox.claim(10, LEASE);
      expect(rest).toEqual([]);
      // A run that was only postponed is not an attempt.
      expect(next?.attempt).toBe(3);
    });

    test("the oldest of the events that crashed twice runs first, whatever its lane's name", async () => {
      const lanes = ["c", "b", "d", "a"];
      await b.inbox.put(
        lanes.map((lane, nth) => message(String(nth + 1), lane)),
        "webhook",
      );
      for (let crashes = 0; crashes < 2; crashes++) {
        expect(await b.inbox.claim(4, LEASE)).toHaveLength(4);
        await b.clock.advance(LEASE);
      }
      for (const id of ["1", "2", "3", "4"]) {
        const claims = await b.inbox.claim(4, LEASE);
        expect(claims).toMatchObject([{ id }]);
        for (const claim of claims) await b.inbox.complete(claim);
        await b.clock.advance(1_000);
      }
    });

    test("of an event that crashed twice does not hold up others once its lease ran out", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b")], "webhook");
      for (let crashes = 0; crashes < 2; crashes++) {
        expect(await b.inbox.claim(2, LEASE)).toHaveLength(2);
        await b.clock.advance(LEASE);
      }
      await b.inbox.retry(await b.claim(), LEASE + 1_000, "Error: boom");
      await b.clock.advance(1_000);
      expect(await b.claim()).toMatchObject({ id: "2", attempt: 3 });
      await b.clock.advance(LEASE);
      const claims = await b.inbox.claim(2, LEASE);
      expect(claims).toMatchObject([{ id: "1", attempt: 4 }]);
    });

    test("is its own, also where others share its lane", async () => {
      await b.inbox.put([message("1"), message("2")], "webhook");
      await b.inbox.bury(await b.claim(), "Error: one");
      await b.inbox.bury(await b.claim(), "Error: two");
      expect(await history("1")).toMatchObject([{ error: "Error: one" }]);
      expect(await history("2")).toMatchObject([{ error: "Error: two" }]);
    });

    test("keeps the newest 50 runs, however often an outage puts the event off", async () => {
      await b.inbox.put(messages("1"), "webhook");
      for (let n = 1; n <= 60; n++) await b.inbox.release(await b.claim(), 0, `Error: ${n}`);
      const errors = (await history()).map(({ error }) => error);
      expect(errors).toEqual(Array.from({ length: 50 }, (_, index) => `Error: ${index + 11}`));
    });
  });
}
