import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Claim, Inbox, NewEvent } from "../faces/inbox.ts";
import { ManualClock } from "../faces/testing.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { advanceContract } from "./inbox-advance.ts";
import { decisionsContract } from "./inbox-decisions.ts";
import { effectsContract } from "./inbox-effects.ts";
import { filtersContract, peopleContract } from "./inbox-filters.ts";
import { historyContract } from "./inbox-history.ts";
import { latenessContract } from "./inbox-lateness.ts";
import { lookContract } from "./inbox-look.ts";
import { retentionContract } from "./inbox-retention.ts";
import { roomsContract } from "./inbox-rooms.ts";
import { statesLookContract } from "./inbox-states-look.ts";
import { textsContract } from "./inbox-texts.ts";
import { timersContract } from "./inbox-timers.ts";
import { waitsContract } from "./inbox-waits.ts";
import { LEASE, type OpenInbox } from "./open-inbox.ts";

export function inboxContract(name: string, open: OpenInbox): void {
  describe(`inbox contract: ${name}`, () => {
    eventsContract(open);
    advanceContract(open);
    latenessContract(open);
    effectsContract(open);
    timersContract(open);
    textsContract(open);
    roomsContract(open);
    historyContract(open);
    lookContract(open);
    statesLookContract(open);
    filtersContract(open);
    describe("people and arrivals", () => peopleContract(open));
    describe("waits and runs", () => waitsContract(open));
    decisionsContract(open);
    retentionContract(open);
  });
}

// A part of its own, because its hooks would open another inbox before each test of the other parts.
function eventsContract(open: OpenInbox): void {
  describe("events", () => {
    let clock: ManualClock;
    let inbox: Inbox;

    beforeEach(async () => {
      clock = new ManualClock(1_800_000_000_000);
      inbox = await open({ clock });
    });

    afterEach(async () => {
      await inbox.close();
    });

    const claimAll = () => inbox.claim(100, LEASE);
    const claimOne = async (): Promise<Claim> => first(await inbox.claim(1, LEASE));
    const ids = (claims: readonly Claim[]) => claims.map((claim) => claim.id);

    describe("put", () => {
      test("a new event is stored and can be claimed with everything it came with", async () => {
        const event = message("7", "c9");
        expect(await inbox.put([event], "webhook")).toEqual({
          stored: ["7"],
          duplicates: 0,
          unusable: 0,
        });
        expect(await claimOne()).toMatchObject({
          lane: "dm:c9",
          id: "7",
          type: "dm.message",
          body: event.body,
          source: "webhook",
          attempt: 1,
          late: false,
          receivedAt: clock.now(),
        });
      });

      test("a batch's trace is stored with each of its events", async () => {
        const [span, id] = [`${"b".repeat(32)}-${"c".repeat(16)}-01`, "a".repeat(32)];
        await inbox.put([message("1", "c1"), message("2", "c2")], "webhook", [], span);
        const cursors = [{ name: "events", position: "2" }];
        await inbox.put([message("2", "c2"), message("3", "c3")], "poll", cursors, id);
        await inbox.put([message("4", "c4")], "poll", cursors);
        await inbox.put([{ ...message("5"), unusable: "no payload" }], "webhook", [], id);
        const claims = await claimAll();
        expect(claims.map((claim) => [claim.id, claim.trace])).toEqual([
          ...[
            ["1", span],
            ["2", span],
            ["3", id],
          ],
          ["4", undefined],
        ]);
        const { events } = await inbox.admin.list();
        // The admin API shows only the trace id, not the whole header.
        expect(Object.fromEntries(events.map((event) => [event.id, event.trace]))).toEqual({
          ...{ 1: "b".repeat(32), 2: "b".repeat(32), 3: id, 4: undefined, 5: id },
        });
      });

      test("a known id is skipped, from either source", async () => {
        await inbox.put(messages("1"), "webhook");
        expect(await inbox.put(messages("1", "2"), "poll")).toMatchObject({
          stored: ["2"],
          duplicates: 1,
        });
        expect((await inbox.stats()).pending).toBe(2);
      });

      test("a finished or dead event keeps its id", async () => {
        await inbox.put(messages("1", "2"), "webhook");
        await inbox.complete(await claimOne());
        await inbox.bury(await claimOne(), "broken");
        expect(await inbox.put(messages("1", "2"), "poll")).toMatchObject({
          stored: [],
          duplicates: 2,
        });
        expect(await claimAll()).toEqual([]);
      });

      test("an id that is twice in one batch is stored once", async () => {
        const result = await inbox.put(messages("1", "1"), "webhook");
        expect(result).toMatchObject({ stored: ["1"], duplicates: 1 });
      });

      test("an unusable event becomes a dead letter, and the rest of its batch is stored", async () => {
        const broken = { ...message("1"), lane: "invalid", unusable: "payload.from: missing" };
        expect(await inbox.put([broken, message("2")], "webhook")).toEqual({
          stored: ["1", "2"],
          duplicates: 0,
          unusable: 1,
        });
        expect(ids(await claimAll())).toEqual(["2"]);
        expect(await deadLetters(inbox)).toMatchObject([
          { id: "1", attempts: 0, error: "payload.from: missing", endedAt: clock.now() },
        ]);
      });

      test("texts with NUL, lone surrogates and quotes come back as they went in", async () => {
        const body = JSON.stringify({ text: "\u0000 \ud800 ' \" \\ 漢 🐟" });
        await inbox.put([{ ...message("1"), body }], "webhook");
        expect((await claimOne()).body).toBe(body);
      });

      test("a full backlog accepts only duplicates", async () => {
        const small = await open({ clock, maxBacklog: 2 });
        onTestFinished(() => small.close());
        await small.put(messages("1", "2"), "webhook");
        const cursor = { name: "events", position: "2" };
        expect(await small.put(messages("2", "1"), "poll", [cursor])).toMatchObject({
          stored: [],
          duplicates: 2,
        });
        expect(await small.cursor("events")).toBe("2");
        await expect(small.put(messages("2", "3"), "webhook")).rejects.toMatchObject({
          code: "INBOX_FULL",
        });
      });

      test("a full backlog rejects new events until some are done", async () => {
        const small = await open({ clock, maxBacklog: 2 });
        await small.put(messages("1", "2"), "webhook");
        await expect(small.put(messages("3"), "webhook")).rejects.toMatchObject({
          code: "INBOX_FULL",
        });
        await small.complete(first(await small.claim(1, LEASE)));
        expect(await small.put(messages("3"), "webhook")).toMatchObject({ stored: ["3"] });
        await small.close();
      });

      test("listeners are notified when a lane may be ready", async () => {
        let calls = 0;
        const stop = inbox.onReady(() => {
          calls += 1;
        });
        await inbox.put(messages("1"), "webhook");
        expect(calls).toBe(1);
        stop();
        await inbox.put(messages("2"), "webhook");
        expect(calls).toBe(1);
      });
    });

    describe("cursors", () => {
      test("a cursor is stored with the batch that leads up to it", async () => {
        expect(await inbox.cursor("events")).toBeUndefined();
        await inbox.put(messages("1"), "poll", [{ name: "events", position: "1" }]);
        expect(await inbox.cursor("events")).toBe("1");
        await inbox.put([], "poll", [{ name: "events", position: "2" }]);
        expect(await inbox.cursor("events")).toBe("2");
      });

      test("a batch that is refused leaves the cursor where it was", async () => {
        const small = await open({ clock, maxBacklog: 1 });
        await small.put(messages("1"), "poll", [{ name: "events", position: "1" }]);
        const refused = small.put(messages("2"), "poll", [{ name: "events", position: "2" }]);
        await expect(refused).rejects.toThrow();
        expect(await small.cursor("events")).toBe("1");
        await small.close();
      });
    });

    describe("a batch that cannot be stored", () => {
      test("leaves the cursor where it was, and none of its events", async () => {
        await inbox.put([], "poll", [{ name: "events", position: "0" }]);
        const broken: NewEvent = Object.assign(message("2"), { type: null });
        const refused = inbox.put([message("1"), broken], "poll", [
          { name: "events", position: "2" },
        ]);
        await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        expect(await inbox.cursor("events")).toBe("0");
        expect(await inbox.stats()).toMatchObject({ pending: 0 });
      });
    });

    describe("types that came by webhook", () => {
      test("are stored, even if polling already stored the event", async () => {
        await inbox.put(messages("1"), "poll");
        expect(await inbox.webhookTypes()).toEqual(new Set());
        await inbox.put(messages("1"), "webhook");
        expect(await inbox.webhookTypes()).toEqual(new Set(["dm.message"]));
      });
    });

    describe("lanes", () => {
      test("events of one lane are claimed one at a time, in the order of their ids", async () => {
        await inbox.put(messages("10", "9", "100"), "webhook");
        for (const id of ["9", "10", "100"]) {
          const claims = await claimAll();
          expect(ids(claims)).toEqual([id]);
          expect(await claimAll()).toEqual([]);
          await inbox.complete(first(claims));
        }
      });

      test("different lanes are claimed side by side, up to the limit", async () => {
        await inbox.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
        expect(await inbox.claim(2, LEASE)).toHaveLength(2);
        expect(await inbox.claim(2, LEASE)).toHaveLength(1);
      });

      test("the lane that has waited longest comes first", async () => {
        await inbox.put([message("2", "b")], "webhook");
        await clock.advance(1);
        await inbox.put([message("1", "a")], "webhook");
        expect(ids(await inbox.claim(1, LEASE))).toEqual(["2"]);
      });

      test("a lane with more events goes behind the others after each of them", async () => {
        await inbox.put([message("1", "busy"), message("2", "busy")], "webhook");
        await clock.advance(1);
        await inbox.put([message("3", "quiet")], "webhook");
        const busy = await claimOne();
        await clock.advance(1);
        await inbox.complete(busy);
        expect(ids(await inbox.claim(1, LEASE))).toEqual(["3"]);
      });

      test("an event whose successor is done already is claimed as late", async () => {
        await inbox.put(messages("5"), "webhook");
        const onTime = await claimOne();
        expect(onTime.late).toBe(false);
        await inbox.complete(onTime);
        await inbox.put(messages("4", "6"), "poll");
        const late = await claimOne();
        expect(late).toMatchObject({ id: "4", late: true });
        await inbox.complete(late);
        expect(await claimOne()).toMatchObject({ id: "6", late: false });
      });

      test("for any order and repeats of delivery, each event is handled once and in order", async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.array(fc.record({ n: fc.nat(30), lane: fc.constantFrom("a", "b") }), {
              minLength: 1,
              maxLength: 40,
            }),
            fc.array(fc.constantFrom("webhook" as const, "poll" as const), {
              minLength: 1,
              maxLength: 8,
            }),
            async (deliveries, doors) => {
              const fresh = await open({ clock });
              // Keep an id in one lane, no matter how often it is delivered.
              const byId = new Map(deliveries.map(({ n, lane }) => [String(n), lane]));
              for (const [index, { n }] of deliveries.entries()) {
                const id = String(n);
                const door = doors[index % doors.length] ?? "webhook";
                await fresh.put([message(id, byId.get(id))], door);
              }
              const handled = await drain(fresh);
              for (const lane of ["a", "b"]) {
                const expected = [...byId]
                  .filter(([, of]) => of === lane)
                  .map(([id]) => Number(id));
                expect(handled.get(`dm:${lane}`) ?? []).toEqual(expected.sort((x, y) => x - y));
              }
              await fresh.close();
            },
          ),
          // On PostgreSQL, each run creates a schema, which is slow.
          { numRuns: inbox.shared ? 8 : 40 },
        );
      });
    });

    describe("leases and fences", () => {
      test("a lease that runs out makes the lane claimable again, with one more attempt", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await clock.advance(LEASE - 1);
        expect(await claimAll()).toEqual([]);
        await clock.advance(1);
        const again = await claimOne();
        expect(again).toMatchObject({ id: "1", attempt: 2 });
        expect(again.fence).toBeGreaterThan(claim.fence);
      });

      test("an owner that lost its lease can no longer write", async () => {
        await inbox.put(messages("1"), "webhook");
        const lost = await claimOne();
        await clock.advance(LEASE);
        const held = await claimOne();
        expect(await inbox.complete(lost)).toBe(false);
        expect(await inbox.bury(lost, "x")).toBe(false);
        expect(await inbox.retry(lost, 0, "x")).toBe(false);
        expect(await inbox.release(lost, 0)).toBe(false);
        expect(await inbox.extend([lost], LEASE)).toEqual([]);
        expect(await inbox.beginStep(lost, "s", "")).toBeUndefined();
        expect(await inbox.restartStep(lost, "s", "")).toBe(false);
        expect(await inbox.finishStep(lost, "s", "1")).toBe(false);
        expect(await inbox.dropStep(lost, "s")).toBe(false);
        expect(await inbox.stats()).toMatchObject({ pending: 1, done: 0, dead: 0 });
        expect(await inbox.complete(held)).toBe(true);
      });

      test.each(["begun", "finished"])(
        "a run that lost its lease gets undefined from beginStep for a step that the next owner has %s",
        async (state) => {
          await inbox.put(messages("1"), "webhook");
          const lost = await claimOne();
          await inbox.beginStep(lost, "before", "");
          await clock.advance(LEASE);
          const held = await claimOne();
          expect(await inbox.beginStep(held, "s", "")).toEqual({ state: "new" });
          if (state === "finished") {
            expect(await inbox.finishStep(held, "s", "1", "m_1")).toBe(true);
          }
          expect(await inbox.beginStep(lost, "s", "")).toBeUndefined();
          expect(await inbox.beginStep(lost, "before", "")).toBeUndefined();
        },
      );

      test("a result is taken once", async () => {
        await inbox.put(messages("1", "2"), "webhook");
        const claim = await claimOne();
        expect(await inbox.complete(claim)).toBe(true);
        expect(await inbox.complete(claim)).toBe(false);
        expect(await inbox.stats()).toMatchObject({ pending: 1, done: 1 });
      });

      test("an extended lease holds as long as it is extended", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        for (let i = 0; i < 3; i++) {
          await clock.advance(LEASE - 1);
          expect(await inbox.extend([claim], LEASE)).toEqual([claim]);
        }
        expect(await claimAll()).toEqual([]);
        expect(await inbox.complete(claim)).toBe(true);
      });
    });

    describe("retry, release and bury", () => {
      test("a retry closes its lane until it is due, and other lanes go on", async () => {
        await inbox.put([message("1", "a"), message("2", "a"), message("3", "b")], "webhook");
        const [a] = (await inbox.claim(1, LEASE)).filter(({ lane }) => lane === "dm:a");
        if (a === undefined) throw new Error("lane a comes first");
        await inbox.retry(a, 5_000, "boom");
        expect(ids(await claimAll())).toEqual(["3"]);
        expect(await inbox.nextReadyIn()).toBe(5_000);
        await clock.advance(5_000);
        expect(await claimOne()).toMatchObject({ id: "1", attempt: 2 });
      });

      test("an arriving event does not shorten the wait", async () => {
        await inbox.put(messages("1"), "webhook");
        await inbox.retry(await claimOne(), 5_000, "boom");
        await inbox.put(messages("2"), "webhook");
        expect(await claimAll()).toEqual([]);
      });

      test("a release gives the attempt back", async () => {
        await inbox.put(messages("1"), "webhook");
        await inbox.release(await claimOne(), 0);
        expect(await claimOne()).toMatchObject({ id: "1", attempt: 1 });
      });

      test("a buried event is a dead letter with its error, and its lane goes on", async () => {
        await inbox.put(messages("1", "2"), "webhook");
        await inbox.bury(await claimOne(), "Error: boom");
        expect(await deadLetters(inbox)).toMatchObject([
          { id: "1", type: "dm.message", lane: "dm:c1", attempts: 1, error: "Error: boom" },
        ]);
        expect(await claimOne()).toMatchObject({ id: "2" });
      });

      test("dead letters come newest first", async () => {
        await inbox.put(messages("1", "2", "3"), "webhook");
        for (let i = 0; i < 3; i++) {
          await inbox.bury(await claimOne(), "x");
          await clock.advance(1);
        }
        expect((await deadLetters(inbox)).map(({ id }) => id)).toEqual(["3", "2", "1"]);
      });
    });

    describe("waiting", () => {
      test("nothing waits in an empty inbox, and an event waits no time", async () => {
        expect(await inbox.nextReadyIn()).toBeUndefined();
        await inbox.put(messages("1"), "webhook");
        expect(await inbox.nextReadyIn()).toBe(0);
        await inbox.complete(await claimOne());
        expect(await inbox.nextReadyIn()).toBeUndefined();
      });

      test("an event that arrives while its lane is being completed is not stranded", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await Promise.all([inbox.put(messages("2"), "webhook"), inbox.complete(claim)]);
        expect(await claimOne()).toMatchObject({ id: "2" });
      });

      test("healing changes nothing in a healthy inbox", async () => {
        await inbox.put(messages("1", "2"), "webhook");
        await inbox.complete(await claimOne());
        expect(await inbox.heal()).toBe(0);
      });

      test("the statistics count by state, and have the age of the oldest pending event", async () => {
        const received = clock.now();
        await inbox.put(messages("1", "2", "3"), "webhook");
        await clock.advance(10);
        await inbox.put([message("4", "c2")], "webhook");
        await inbox.complete(await claimOne());
        await inbox.bury(first((await claimAll()).filter(({ id }) => id === "2")), "x");
        expect(await inbox.stats()).toEqual({
          pending: 2,
          done: 1,
          dead: 1,
          oldestPendingAt: received,
        });
      });
    });

    describe("steps", () => {
      test("an intent is recorded once, and found open by the next run", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        expect(await inbox.beginStep(claim, "reply/1", "hello")).toEqual({ state: "new" });
        await clock.advance(LEASE);
        const again = await claimOne();
        expect(await inbox.beginStep(again, "reply/1", "other")).toEqual({
          state: "open",
          request: "hello",
          ageMs: LEASE,
        });
      });

      test("every later run gets the recorded result, with its request", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "hello");
        expect(await inbox.finishStep(claim, "s", '{"value":1}')).toBe(true);
        await inbox.retry(claim, 0, "boom");
        expect(await inbox.beginStep(await claimOne(), "s", "other")).toEqual({
          state: "done",
          request: "hello",
          result: '{"value":1}',
          ageMs: 0,
        });
      });

      test("a renewed result is an open intent again, without a reference", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "old");
        await inbox.finishStep(claim, "s", "1", "m_1");
        await clock.advance(5);
        await inbox.restartStep(claim, "s", "new");
        expect(await inbox.beginStep(claim, "s", "")).toEqual({
          state: "open",
          request: "new",
          ageMs: 0,
        });
        expect(await inbox.claimedRefs(["m_1"])).toEqual(new Set());
      });

      test("a restarted intent carries the new request and time", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "old");
        await clock.advance(5);
        expect(await inbox.restartStep(claim, "s", "new")).toBe(true);
        expect(await inbox.beginStep(claim, "s", "")).toEqual({
          state: "open",
          request: "new",
          ageMs: 0,
        });
      });

      test("a dropped intent had no effect", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "");
        expect(await inbox.dropStep(claim, "s")).toBe(true);
        expect(await inbox.beginStep(claim, "s", "")).toEqual({ state: "absent" });
      });

      test("a result cannot be dropped", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "");
        await inbox.finishStep(claim, "s", "1");
        await inbox.dropStep(claim, "s");
        expect(await inbox.beginStep(claim, "s", "")).toMatchObject({ state: "done" });
      });

      test("steps of one name belong to their event alone", async () => {
        await inbox.put([message("1", "a"), message("2", "b")], "webhook");
        const [one, two] = await claimAll();
        if (one === undefined || two === undefined) throw new Error("two claims");
        await inbox.beginStep(one, "s", "");
        expect(await inbox.beginStep(two, "s", "")).toEqual({ state: "new" });
      });

      test("what was found is the result of one step, however many have found it", async () => {
        await inbox.put([message("1", "a"), message("2", "b")], "webhook");
        const claims = await claimAll();
        for (const claim of claims) await inbox.beginStep(claim, "s", "");
        const adopt = (claim: Claim) => inbox.reconcileStep(claim, "s", '{"value":1}', "m_1");
        const adoptions = await Promise.all(claims.map(adopt));
        expect([...adoptions].sort()).toEqual(["adopted", "taken"]);
        // The lease holder may repeat the call, because it may have lost the response.
        expect(await Promise.all(claims.map(adopt))).toEqual(adoptions);
        const states = await Promise.all(claims.map((claim) => inbox.beginStep(claim, "s", "")));
        expect(states.map((start) => start?.state)).toEqual(
          adoptions.map((adoption) => (adoption === "adopted" ? "done" : "open")),
        );
        const [one] = claims;
        if (one === undefined) throw new Error("two claims");
        await clock.advance(LEASE);
        await claimAll();
        expect(await inbox.reconcileStep(one, "other", "1", "m_2")).toBe("lost");
        expect(await inbox.claimedRefs(["m_1", "m_2"])).toEqual(new Set(["m_1"]));
      });

      test("what was adopted provisionally is known, with the time since its adoption", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        for (const name of ["a", "b", "c"]) await inbox.beginStep(claim, name, "");
        await clock.advance(700);
        await inbox.reconcileStep(claim, "a", "1", "m_1", true);
        await inbox.reconcileStep(claim, "b", "1", "m_2");
        await inbox.finishStep(claim, "c", "1", "m_3");
        await clock.advance(300);
        const refs = ["m_1", "m_2", "m_3", "m_4"];
        expect(await inbox.provisionalAdoptions(refs)).toEqual([300]);
        expect(await inbox.provisionalAdoptions(["m_2"])).toEqual([]);
        expect(await inbox.claimedRefs(refs)).toEqual(new Set(["m_1", "m_2", "m_3"]));
        await inbox.restartStep(claim, "a", "");
        await inbox.finishStep(claim, "a", "1", "m_1");
        expect(await inbox.provisionalAdoptions(refs)).toEqual([]);
      });

      test("platform ids that are results of steps are claimed", async () => {
        await inbox.put(messages("1"), "webhook");
        const claim = await claimOne();
        await inbox.beginStep(claim, "s", "");
        await inbox.finishStep(claim, "s", "1", "m_1");
        expect(await inbox.claimedRefs(["m_1", "m_2"])).toEqual(new Set(["m_1"]));
        expect(await inbox.claimedRefs([])).toEqual(new Set());
      });
    });

    test("a closed inbox refuses writes with an error", async () => {
      await inbox.close();
      await expect(inbox.put(messages("1"), "webhook")).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      await expect(inbox.ping()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    });
  });
}

/** Handles every event, and returns each lane's event numbers in the order they were handled. */
async function drain(inbox: Inbox): Promise<Map<string, number[]>> {
  const handled = new Map<string, number[]>();
  for (;;) {
    const claims = await inbox.claim(10, LEASE);
    if (claims.length === 0) return handled;
    for (const claim of claims) {
      handled.set(claim.lane, [...(handled.get(claim.lane) ?? []), Number(claim.id)]);
      await inbox.complete(claim);
    }
  }
}
