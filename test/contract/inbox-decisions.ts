import { describe, expect, test } from "vitest";
import { deadLetters } from "../support/dead-letters.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

const one = { changed: 1, skipped: 0 };

export function decisionsContract(open: OpenInbox): void {
  describe("retrying a dead letter", () => {
    const b = bench(open);

    test("makes it pending again, with its first attempt ahead of it", async () => {
      await b.bury("1");
      expect(await b.inbox.admin.retry("1")).toEqual(one);
      expect(await b.inbox.stats()).toMatchObject({ pending: 1, dead: 0 });
      expect(await b.inbox.nextReadyIn()).toBe(0);
      const claim = await b.claim();
      expect(claim).toMatchObject({ id: "1", attempt: 1, late: false });
      expect(await b.inbox.complete(claim)).toBe(true);
      expect(await b.inbox.admin.show("1")).toMatchObject({ state: "done", error: undefined });
    });

    test("keeps its history and its last error until it is done", async () => {
      await b.bury("1");
      await b.inbox.admin.retry("1");
      expect(await b.inbox.admin.show("1")).toMatchObject({
        state: "pending",
        attempts: 0,
        endedAt: undefined,
        error: "Error: 1 is broken",
        history: [{ outcome: "dead" }],
      });
    });

    test("delivers it as late once later events of its lane were handled", async () => {
      await b.bury("1");
      await b.inbox.put(messages("2"), "webhook");
      await b.inbox.complete(await b.claim());
      await b.inbox.admin.retry("1");
      expect(await b.claim()).toMatchObject({ id: "1", late: true });
    });

    test("wakes the dispatcher, and counts towards the backlog", async () => {
      const small = await open({ clock: b.clock, maxBacklog: 1 });
      await small.put(messages("1"), "webhook");
      const [claim] = await small.claim(1, LEASE);
      if (claim === undefined) throw new Error("one claim");
      await small.bury(claim, "x");
      let calls = 0;
      small.onReady(() => {
        calls += 1;
      });
      await small.admin.retry("1");
      expect(calls).toBe(1);
      await expect(small.put(messages("2"), "webhook")).rejects.toMatchObject({
        code: "INBOX_FULL",
      });
      await small.admin.discard("1", "enough");
      expect(await small.put(messages("2"), "webhook")).toMatchObject({ stored: ["2"] });
      await small.close();
    });

    test("leaves a lease of its lane alone, and has its turn after it", async () => {
      await b.bury("1");
      await b.inbox.put(messages("2"), "webhook");
      const held = await b.claim();
      await b.inbox.admin.retry("1");
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      expect(await b.inbox.extend([held], LEASE)).toEqual([held]);
      expect(await b.inbox.complete(held)).toBe(true);
      expect(await b.claim()).toMatchObject({ id: "1", late: true });
    });

    test("lets it begin at once where a later event of its lane waits for a retry", async () => {
      await b.bury("1");
      await b.inbox.put(messages("2"), "webhook");
      await b.inbox.retry(await b.claim(), 60_000, "x");
      await b.inbox.admin.retry("1");
      expect(await b.claim()).toMatchObject({ id: "1" });
    });

    test("does not cut short the wait of an earlier event of its lane", async () => {
      await b.bury("2");
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.retry(await b.claim(), 60_000, "x");
      await b.inbox.admin.retry("2");
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      await b.clock.advance(60_000);
      expect(await b.claim()).toMatchObject({ id: "1" });
    });

    test("does not push its lane behind others that came later", async () => {
      await b.bury("1");
      await b.inbox.put([message("5", "c1")], "webhook");
      await b.clock.advance(1);
      await b.inbox.put([message("6", "other")], "webhook");
      await b.clock.advance(1);
      await b.inbox.admin.retry("1");
      expect(await b.claim()).toMatchObject({ id: "1" });
    });

    test("works for one that never had a turn", async () => {
      await b.inbox.put([{ ...message("1"), lane: "invalid", unusable: "no payload" }], "webhook");
      await b.inbox.admin.retry("1");
      expect(await b.claim()).toMatchObject({ id: "1", lane: "invalid", attempt: 1 });
    });

    test("leaves nothing to what is left of its last run", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const old = await b.claim();
      await b.inbox.bury(old, "x");
      await b.inbox.admin.retry("1");
      await b.claim();
      expect(await b.inbox.complete(old)).toBe(false);
      expect(await b.inbox.beginStep(old, "s", "")).toBeUndefined();
    });

    test("is refused for an event that has ended, and for what is not there", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const refused = (id: string, code: string) =>
        expect(b.inbox.admin.retry(id), id).rejects.toMatchObject({ code });
      await b.inbox.complete(await b.claim());
      await refused("1", "EVENT_NOT_DEAD");
      await b.inbox.admin.discard("2", "spam");
      await refused("2", "EVENT_NOT_DEAD");
      await refused("nope", "EVENT_NOT_FOUND");
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
    });
  });

  describe("settling what a step may have done", () => {
    const b = bench(open);
    const parked = async () => {
      await b.inbox.put(messages("1"), "webhook");
      const claim = await b.claim();
      await b.inbox.beginStep(claim, "first", "");
      await b.inbox.finishStep(claim, "first", "1");
      await b.inbox.beginStep(claim, "pay", "100");
      await b.inbox.bury(claim, "STEP_UNCERTAIN");
    };

    test("as done gives the next run the step without a result", async () => {
      await parked();
      await b.inbox.admin.retry("1", { assume: "done" });
      const claim = await b.claim();
      expect(await b.inbox.beginStep(claim, "pay", "")).toMatchObject({
        state: "done",
        result: undefined,
      });
      expect(await b.inbox.beginStep(claim, "first", "")).toMatchObject({
        state: "done",
        result: "1",
      });
    });

    test("as absent lets the step run again, and no other", async () => {
      await parked();
      await b.inbox.admin.retry("1", { assume: "absent" });
      const claim = await b.claim();
      expect(await b.inbox.beginStep(claim, "pay", "")).toEqual({ state: "absent" });
      expect(await b.inbox.beginStep(claim, "first", "")).toMatchObject({
        state: "done",
        result: "1",
      });
    });

    test("not at all leaves the step as it was", async () => {
      await parked();
      await b.inbox.admin.retry("1");
      expect(await b.inbox.beginStep(await b.claim(), "pay", "")).toMatchObject({
        state: "open",
        request: "100",
      });
    });

    test("is refused together with the retry", async () => {
      await parked();
      await b.inbox.admin.retry("1");
      await expect(b.inbox.admin.retry("1", { assume: "absent" })).rejects.toThrow();
      expect((await b.inbox.admin.show("1")).steps).toHaveLength(2);
    });
  });

  describe("discarding", () => {
    const b = bench(open);

    test("a dead letter keeps it and its reason, and its id is still a duplicate", async () => {
      await b.bury("1");
      const at = b.clock.now();
      expect(await b.inbox.admin.discard("1", " spam \n")).toEqual(one);
      expect(await b.inbox.admin.show("1")).toMatchObject({
        state: "discarded",
        discardReason: "spam",
        error: "Error: 1 is broken",
        endedAt: at,
      });
      expect(await b.inbox.put(messages("1"), "poll")).toMatchObject({ stored: [], duplicates: 1 });
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      expect(await deadLetters(b.inbox)).toEqual([]);
    });

    test("a pending event lets the next one of its lane have its turn", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.admin.discard("1", "spam");
      expect(await b.inbox.stats()).toMatchObject({ pending: 1 });
      const claim = await b.claim();
      expect(claim).toMatchObject({ id: "2" });
      await b.inbox.complete(claim);
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
    });

    test("the event that a lane waits for ends the wait", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.retry(await b.claim(), 60_000, "x");
      await b.inbox.admin.discard("1", "spam");
      expect(await b.claim()).toMatchObject({ id: "2" });
    });

    test("an event behind the one that waits leaves the wait as it is", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.retry(await b.claim(), 60_000, "x");
      await b.inbox.admin.discard("2", "spam");
      expect(await b.inbox.nextReadyIn()).toBe(60_000);
    });

    test("the only event of a lane leaves the lane idle", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.admin.discard("1", "spam");
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
      await b.inbox.put(messages("2"), "webhook");
      expect(await b.claim()).toMatchObject({ id: "2" });
    });

    test("what is being handled is refused, and its run goes on", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const claim = await b.claim();
      await expect(b.inbox.admin.discard("1", "spam")).rejects.toMatchObject({
        code: "EVENT_LEASED",
      });
      expect(await b.inbox.complete(claim)).toBe(true);
    });

    test("an event behind the one that is being handled leaves that one its lease", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      await b.inbox.admin.discard("2", "spam");
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      expect(await b.inbox.complete(claim)).toBe(true);
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
      expect(await b.inbox.stats()).toMatchObject({ pending: 0, done: 1 });
    });

    test("an event that came before the one that is being handled leaves that one its lease", async () => {
      await b.inbox.put(messages("5", "6"), "webhook");
      const claim = await b.claim();
      await b.inbox.put(messages("4"), "poll");
      await b.inbox.admin.discard("4", "spam");
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      expect(await b.inbox.complete(claim)).toBe(true);
      expect(await b.claim()).toMatchObject({ id: "6" });
    });

    test("an event whose lease ran out fences off the run that may still be at work", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const lost = await b.claim();
      await b.clock.advance(LEASE);
      await b.inbox.admin.discard("1", "spam");
      expect(await b.inbox.complete(lost)).toBe(false);
      expect(await b.inbox.extend([lost], LEASE)).toEqual([]);
      expect(await b.inbox.admin.show("1")).toMatchObject({ state: "discarded" });
      expect(await b.inbox.stats()).toMatchObject({ pending: 1, done: 0 });
      expect(await b.claim()).toMatchObject({ id: "2" });
    });

    test("is refused for what is done or discarded, and for what is not there", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.complete(await b.claim());
      await b.inbox.admin.discard("2", "spam");
      for (const id of ["1", "2"]) {
        const again = b.inbox.admin.discard(id, "again");
        await expect(again, id).rejects.toMatchObject({ code: "EVENT_ENDED" });
      }
      expect(await b.inbox.admin.show("2")).toMatchObject({ discardReason: "spam" });
      const unknown = b.inbox.admin.discard("nope", "spam");
      await expect(unknown).rejects.toMatchObject({ code: "EVENT_NOT_FOUND" });
    });

    test("needs a reason, and keeps 500 characters of it", async () => {
      await b.bury("1");
      for (const reason of ["", " \n"]) {
        const discarded = b.inbox.admin.discard("1", reason);
        await expect(discarded).rejects.toMatchObject({ code: "REASON_MISSING" });
      }
      await b.inbox.admin.discard("1", "x".repeat(600));
      expect((await b.inbox.admin.show("1")).discardReason).toHaveLength(500);
    });
  });

  describe("decisions by filter", () => {
    const b = bench(open);
    const ids = (n: number, from = 1) => Array.from({ length: n }, (_, i) => String(from + i));
    const states = async () => {
      const { events } = await b.inbox.admin.list({ limit: 1_000 });
      return Object.fromEntries(events.map(({ id, state }) => [id, state]));
    };

    test("retry every dead letter that fits, over more than one batch, and no other", async () => {
      await b.inbox.put(messages(...ids(250)), "webhook");
      for (let i = 0; i < 250; i++) await b.inbox.bury(await b.claim(), "x");
      const other = { ...message("999", "c9"), type: "follow" };
      await b.inbox.put([other], "webhook");
      await b.inbox.bury(await b.claim(), "x");
      const changed = await b.inbox.admin.retry({ type: "dm.message" });
      expect(changed).toEqual({ changed: 250, skipped: 0 });
      expect(await b.inbox.stats()).toMatchObject({ pending: 250, dead: 1 });
      for (const id of ids(3)) {
        const claim = await b.claim();
        expect(claim.id).toBe(id);
        await b.inbox.complete(claim);
      }
    });

    test("end, although what they retry dies again at once", async () => {
      await b.inbox.put(messages(...ids(150)), "webhook");
      for (let i = 0; i < 150; i++) await b.inbox.bury(await b.claim(), "x");
      const dying: Promise<void>[] = [];
      b.inbox.onReady(() => {
        const die = async () => {
          const [claim] = await b.inbox.claim(1, LEASE);
          if (claim !== undefined) await b.inbox.bury(claim, "again");
        };
        dying.push(die());
      });
      expect(await b.inbox.admin.retry({})).toEqual({ changed: 150, skipped: 0 });
      await Promise.all(dying);
      expect((await b.inbox.stats()).dead).toBeGreaterThan(0);
    });

    test("let deliveries through between their batches", async () => {
      // Enough events for several batches, so that a delivery can finish long before the last batch.
      const dead = messages(...ids(2_000)).map((event) => ({ ...event, unusable: "x" }));
      await b.inbox.put(dead, "webhook");
      const order: string[] = [];
      const stop = b.inbox.onReady(() => {
        stop();
        void b.inbox.put([message("99999", "c9")], "webhook").then(() => order.push("stored"));
      });
      await b.inbox.admin.retry({});
      order.push("retried");
      await b.inbox.ping();
      expect(order).toEqual(["stored", "retried"]);
    });

    test("discard dead letters, and pending events on request", async () => {
      await b.bury("1", "2");
      await b.inbox.put([message("3", "c3"), message("4", "c4")], "webhook");
      expect(await b.inbox.admin.discard({}, "spam")).toEqual({ changed: 2, skipped: 0 });
      expect(await states()).toEqual({
        1: "discarded",
        2: "discarded",
        3: "pending",
        4: "pending",
      });
      const changed = await b.inbox.admin.discard({ state: "pending", lane: "dm:c3" }, "spam");
      expect(changed).toEqual(one);
      expect(await states()).toMatchObject({ 3: "discarded", 4: "pending" });
    });

    test("pass over what is being handled", async () => {
      await b.inbox.put(messages("1", "2", "3"), "webhook");
      const claim = await b.claim();
      const changed = await b.inbox.admin.discard({ state: "pending" }, "spam");
      expect(changed).toEqual({ changed: 2, skipped: 1 });
      expect(await b.inbox.complete(claim)).toBe(true);
      expect(await states()).toEqual({ 1: "done", 2: "discarded", 3: "discarded" });
    });

    test("change nothing where nothing fits", async () => {
      await b.bury("1");
      const nothing = { changed: 0, skipped: 0 };
      expect(await b.inbox.admin.retry({ type: "follow" })).toEqual(nothing);
      expect(await b.inbox.admin.retry({ lane: "" })).toEqual(nothing);
      expect(await b.inbox.admin.discard({ lane: "dm:other" }, "x")).toEqual(nothing);
    });
  });

  describe("a step that came to nothing", () => {
    const b = bench(open);
    const begun = async () => {
      await b.inbox.put(messages("1"), "webhook");
      const claim = await b.claim();
      expect(await b.inbox.beginStep(claim, "step/a", "first")).toEqual({ state: "new" });
      return claim;
    };
    const steps = async () => (await b.inbox.admin.show("1")).steps;

    test("is absent after a drop, and is no longer listed", async () => {
      const claim = await begun();
      expect(await b.inbox.dropStep(claim, "step/a")).toBe(true);
      expect(await steps()).toEqual([]);
      expect(await b.inbox.beginStep(claim, "step/a", "second")).toEqual({ state: "absent" });
      expect(await steps()).toMatchObject([{ state: "open", request: "second" }]);
      await b.clock.advance(5);
      const open = { state: "open", request: "second", ageMs: 5 };
      expect(await b.inbox.beginStep(claim, "step/a", "third")).toMatchObject(open);
    });

    test("is permanently absent if an operator decides so", async () => {
      await b.inbox.bury(await begun(), "uncertain");
      await b.inbox.admin.retry("1", { assume: "absent" });
      expect(await steps()).toEqual([]);
      await b.inbox.bury(await b.claim(), "something else");
      // The outcome assumed for one step must not apply to another step.
      await b.inbox.admin.retry("1", { assume: "done" });
      const claim = await b.claim();
      expect(await b.inbox.beginStep(claim, "step/a", "second")).toEqual({ state: "absent" });
      expect(await b.inbox.requestsUnderWay(claim, 60_000)).toEqual([]);
    });

    test("that was done stays done", async () => {
      const claim = await begun();
      await b.inbox.finishStep(claim, "step/a", "1");
      await b.inbox.dropStep(claim, "step/a");
      await b.inbox.bury(claim, "x");
      await b.inbox.admin.retry("1", { assume: "absent" });
      expect(await steps()).toMatchObject([{ name: "step/a", state: "done" }]);
    });

    test("of a run that has lost its lease is not changed", async () => {
      const claim = await begun();
      await b.clock.advance(LEASE);
      await b.claim();
      expect(await b.inbox.dropStep(claim, "step/a")).toBe(false);
      expect(await steps()).toMatchObject([{ state: "open" }]);
    });
  });
}
