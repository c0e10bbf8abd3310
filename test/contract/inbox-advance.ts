import { describe, expect, onTestFinished, test } from "vitest";
import type { Claim } from "../faces/inbox.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

export function advanceContract(open: OpenInbox): void {
  describe("going on with the next event of a lane", () => {
    const b = bench(open);
    const goOn = async (claim: Claim): Promise<Claim> => {
      const { held, next } = await b.inbox.advance(claim);
      expect(held).toBe(true);
      if (next === undefined) throw new Error("the lane was let go");
      return next;
    };
    /** Crashes runs of the lane's first event by letting their leases expire. */
    const crash = async (times: number) => {
      for (let n = 0; n < times; n++) {
        await b.claim();
        await b.clock.advance(LEASE);
      }
    };

    test("the event is done, and the next one is returned with all its fields and its own fence", async () => {
      await b.inbox.put([message("2"), message("3")], "poll", [], "a".repeat(32));
      await b.inbox.put([message("1", "other")], "webhook");
      const claims = await b.inbox.claim(2, LEASE);
      const claim = first(claims.filter(({ id }) => id === "2"));
      const next = await goOn(claim);
      expect(next).toMatchObject({
        ...{ lane: "dm:c1", id: "3", type: "dm.message", body: message("3").body },
        ...{ source: "poll", attempt: 1, crashes: 0, late: false, receivedAt: b.clock.now() },
        fence: next.fence,
        trace: "a".repeat(32),
      });
      expect(next.fence).toBeGreaterThan(claim.fence);
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      expect(await b.inbox.admin.show("2")).toMatchObject({ state: "done", attempts: 1 });
      expect(await b.inbox.admin.show("3")).toMatchObject({
        ...{ state: "pending", attempts: 1, leased: true, history: [] },
      });
      expect(await b.inbox.stats()).toMatchObject({ pending: 2, done: 1, dead: 0 });
      expect(await b.inbox.complete(next)).toBe(true);
      expect(await b.inbox.stats()).toMatchObject({ pending: 1, done: 2, dead: 0 });
    });

    test("a whole lane is handled in order under one claim", async () => {
      await b.inbox.put(messages("10", "9", "100", "2"), "webhook");
      const ids: string[] = [];
      for (let claim: Claim | undefined = await b.claim(); claim !== undefined; ) {
        ids.push(claim.id);
        claim = (await b.inbox.advance(claim)).next;
      }
      expect(ids).toEqual(["2", "9", "10", "100"]);
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
    });

    test("an earlier event that arrives meanwhile comes first, and is late", async () => {
      await b.inbox.put(messages("2", "3"), "webhook");
      const claim = await b.claim();
      await b.inbox.put(messages("1"), "poll");
      const late = await goOn(claim);
      expect(late).toMatchObject({ id: "1", late: true, source: "poll" });
      expect(await goOn(late)).toMatchObject({ id: "3", late: false });
    });

    test("the lease ends when it would have; what was gone on with has crashed then, and not what was done", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      await b.clock.advance(LEASE - 1);
      const next = await goOn(claim);
      expect(await b.inbox.nextReadyIn()).toBe(1);
      expect(await b.inbox.claim(1, LEASE)).toEqual([]);
      await b.clock.advance(1);
      const again = await b.claim();
      expect(again).toMatchObject({ id: "2", attempt: 2, crashes: 1 });
      expect(again.fence).toBeGreaterThan(next.fence);
      expect(await b.inbox.complete(next)).toBe(false);
      expect(await b.inbox.admin.show("1")).toMatchObject({ state: "done", history: [] });
      expect(await b.inbox.admin.show("2")).toMatchObject({
        history: [{ number: 1, outcome: "crashed" }],
      });
    });

    test("a lease that has run out ends there: the next event waits for a claim, and has no attempt", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      await b.clock.advance(LEASE);
      const { held, next } = await b.inbox.advance(claim);
      expect({ held, next }).toEqual({ held: true, next: undefined });
      expect(await b.claim()).toMatchObject({ id: "2", attempt: 1, crashes: 0 });
    });

    test("the lease can be extended by the new claim, and by no earlier one", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      const next = await goOn(claim);
      await b.clock.advance(LEASE - 1);
      expect(await b.inbox.extend([claim, next], LEASE)).toEqual([next]);
      await b.clock.advance(LEASE - 1);
      expect(await b.inbox.claim(1, LEASE)).toEqual([]);
      expect(await b.inbox.complete(next)).toBe(true);
    });

    test("the claim of a done event can no longer write", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const old = await b.claim();
      const next = await goOn(old);
      expect(await b.inbox.advance(old)).toMatchObject({ held: false });
      expect(await b.inbox.complete(old)).toBe(false);
      expect(await b.inbox.bury(old, "x")).toBe(false);
      expect(await b.inbox.retry(old, 0, "x")).toBe(false);
      expect(await b.inbox.release(old, 0)).toBe(false);
      expect(await b.inbox.extend([old], LEASE)).toEqual([]);
      expect(await b.inbox.beginStep(old, "s", "")).toBeUndefined();
      expect(await b.inbox.restartStep(old, "s", "")).toBe(false);
      expect(await b.inbox.finishStep(old, "s", "1")).toBe(false);
      expect(await b.inbox.reconcileStep(old, "s", "1", "m_1")).toBe("lost");
      expect(await b.inbox.dropStep(old, "s")).toBe(false);
      expect(await b.inbox.beginStep(next, "s", "")).toEqual({ state: "new" });
      expect(await b.inbox.stats()).toMatchObject({ pending: 1, done: 1, dead: 0 });
    });

    test("a run without its lease writes nothing, and gets no next event", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const lost = await b.claim();
      await b.clock.advance(LEASE);
      const claim = await b.claim();
      const { held, next } = await b.inbox.advance(lost);
      expect({ held, next }).toEqual({ held: false, next: undefined });
      expect(await b.inbox.stats()).toMatchObject({ pending: 2, done: 0 });
      expect(await goOn(claim)).toMatchObject({ id: "2" });
    });

    test("a lane that has no more is idle, and ready again when an event comes", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const { held, next } = await b.inbox.advance(await b.claim());
      expect({ held, next }).toEqual({ held: true, next: undefined });
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
      expect(await b.inbox.heal()).toBe(0);
      await b.inbox.put(messages("2"), "webhook");
      expect(await b.claim()).toMatchObject({ id: "2", attempt: 1 });
    });

    test("an event that arrives at that moment is not stranded", async () => {
      for (let n = 0; n < 40; n += 2) {
        const [one, two] = [String(n), String(n + 1)];
        await b.inbox.put(messages(one), "webhook");
        const claim = await b.claim();
        const [advance] = await Promise.all([
          b.inbox.advance(claim),
          b.inbox.put(messages(two), "webhook"),
        ]);
        expect(advance.held).toBe(true);
        const next = advance.next ?? (await b.claim());
        expect(next).toMatchObject({ id: two, attempt: 1, crashes: 0 });
        await b.inbox.complete(next);
      }
      expect(await b.inbox.heal()).toBe(0);
      expect(await b.inbox.stats()).toMatchObject({ pending: 0, done: 40 });
    });

    test("an event whose runs have crashed twice waits for a claim; after one it need not", async () => {
      for (const [crashes, goesOn] of [
        [1, true],
        [2, false],
      ] as const) {
        const [early, crashed] = [`${crashes}1`, `${crashes}2`];
        await b.inbox.put(messages(crashed), "webhook");
        await crash(crashes);
        await b.inbox.release(await b.claim(), 0);
        await b.inbox.put(messages(early), "webhook");
        const claim = await b.claim();
        expect(claim).toMatchObject({ id: early, crashes: 0 });
        const { held, next } = await b.inbox.advance(claim);
        expect({ held, goesOn: next !== undefined }).toEqual({ held: true, goesOn });
        const last = next ?? (await b.claim());
        expect(last).toMatchObject({ id: crashed, crashes, attempt: crashes + 1 });
        await b.inbox.complete(last);
      }
    });

    test("concurrent results of a run are stored once", async () => {
      let n = 0;
      const { inbox } = b;
      const endings = [
        async (claim: Claim) => (await inbox.advance(claim)).held,
        (claim: Claim) => inbox.complete(claim),
        (claim: Claim) => inbox.bury(claim, "x"),
      ];
      for (const one of endings) {
        for (const other of endings) {
          const ids = [++n, ++n].map(String);
          await inbox.put(messages(...ids), "webhook");
          const claim = await b.claim();
          const held = await Promise.all([one(claim), other(claim)]);
          expect(held.filter(Boolean)).toHaveLength(1);
          expect(await inbox.stats()).toMatchObject({ pending: 1 });
          const { state, history } = await inbox.admin.show(String(ids[0]));
          expect(history).toHaveLength(state === "dead" ? 1 : 0);
          // If the lane has already advanced, its lease must expire before another claim.
          const [next] = await inbox.claim(1, LEASE);
          if (next === undefined) await b.clock.advance(LEASE);
          const last = next ?? (await b.claim());
          expect(last).toMatchObject({ id: ids[1] });
          await inbox.complete(last);
        }
      }
      const { done, dead } = await inbox.stats();
      expect(done + dead).toBe(n);
    });

    test("a retry of what was gone on with closes the lane, and a release gives its attempt back", async () => {
      await b.inbox.put(messages("1", "2", "3"), "webhook");
      const next = await goOn(await b.claim());
      expect(await b.inbox.retry(next, 5_000, "boom")).toBe(true);
      expect(await b.inbox.claim(1, LEASE)).toEqual([]);
      expect(await b.inbox.nextReadyIn()).toBe(5_000);
      await b.clock.advance(5_000);
      const again = await b.claim();
      expect(again).toMatchObject({ id: "2", attempt: 2, crashes: 0 });
      const last = await goOn(again);
      expect(await b.inbox.release(last, 0)).toBe(true);
      const released = await b.claim();
      expect(released).toMatchObject({ id: "3", attempt: 1 });
      expect(await b.inbox.bury(released, "x")).toBe(true);
      expect(await b.inbox.stats()).toMatchObject({ pending: 0, done: 2, dead: 1 });
    });

    test("what is done this way makes room in a full backlog", async () => {
      const small = await open({ clock: b.clock, maxBacklog: 2 });
      onTestFinished(() => small.close());
      await small.put(messages("1", "2"), "webhook");
      await expect(small.put(messages("3"), "webhook")).rejects.toMatchObject({
        code: "INBOX_FULL",
      });
      await small.advance(first(await small.claim(1, LEASE)));
      expect(await small.put(messages("3"), "webhook")).toMatchObject({ stored: ["3"] });
      await expect(small.put(messages("4"), "webhook")).rejects.toMatchObject({
        code: "INBOX_FULL",
      });
    });
  });
}
