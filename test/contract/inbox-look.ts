import { describe, expect, test } from "vitest";
import type { InboxListOptions } from "../faces/inbox.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

const FOR_EVER = {
  bodiesMs: Number.POSITIVE_INFINITY,
  idsMs: Number.POSITIVE_INFINITY,
  deadLettersMs: Number.POSITIVE_INFINITY,
};

export function lookContract(open: OpenInbox): void {
  describe("list", () => {
    const b = bench(open);
    const list = async (options?: InboxListOptions) =>
      (await b.inbox.admin.list(options)).events.map(({ id }) => id);

    test("lists the facts of each event without its content", async () => {
      await b.bury("1");
      const died = b.clock.now() - 1;
      expect((await b.inbox.admin.list()).events).toEqual([
        {
          id: "1",
          type: "dm.message",
          lane: "dm:c1",
          state: "dead",
          source: "webhook",
          attempts: 1,
          leased: false,
          receivedAt: died,
          endedAt: died,
          error: "Error: 1 is broken",
          discardReason: undefined,
        },
      ]);
    });

    test("filters by state, type and lane", async () => {
      await b.bury("1", "2", "3");
      await b.inbox.admin.discard("2", "spam");
      await b.inbox.put([{ ...message("4", "c4"), type: "follow" }], "poll");
      await b.inbox.complete(await b.claim());
      await b.inbox.put([message("5", "c5"), { ...message("6", "c6"), type: "follow" }], "poll");
      expect(await list({ state: "dead" })).toEqual(["3", "1"]);
      expect(await list({ state: "discarded" })).toEqual(["2"]);
      expect(await list({ state: "done" })).toEqual(["4"]);
      expect(await list({ state: "pending" })).toEqual(["6", "5"]);
      expect(await list({ type: "follow" })).toEqual(["6", "4"]);
      expect(await list({ lane: "dm:c1" })).toEqual(["2", "3", "1"]);
      expect(await list({ state: "pending", type: "follow", lane: "dm:c6" })).toEqual(["6"]);
      expect(await list({ state: "pending", type: "follow", lane: "dm:c5" })).toEqual([]);
      expect(await list()).toEqual(["6", "5", "4", "2", "3", "1"]);
    });

    test("has what ended last at the top, whenever it was received", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b")], "webhook");
      const [one, two] = await b.inbox.claim(2, LEASE);
      if (one === undefined || two === undefined) throw new Error("two lanes");
      await b.inbox.bury(two, "x");
      await b.clock.advance(1);
      await b.inbox.bury(one, "x");
      expect(await list({ state: "dead" })).toEqual(["1", "2"]);
    });

    test("merges all states by when each event ended, or came", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
      const [one, two, three] = await b.inbox.claim(3, LEASE);
      if (one === undefined || two === undefined || three === undefined) throw new Error("three");
      await b.clock.advance(1);
      await b.inbox.complete(one);
      while (await b.inbox.sweep({ ...FOR_EVER, bodiesMs: -1 }));
      await b.clock.advance(1);
      await b.inbox.put([message("4", "d")], "webhook");
      await b.clock.advance(1);
      await b.inbox.bury(two, "x");
      await b.clock.advance(1);
      await b.inbox.put([message("5", "e")], "webhook");
      await b.inbox.admin.discard("5", "spam");
      await b.clock.advance(1);
      await b.inbox.complete(await b.claim());
      const merged = ["4", "5", "2", "1", "3"];
      expect(await list()).toEqual(merged);
      const seen: string[] = [];
      for (let after: string | undefined; seen.length < merged.length; ) {
        const page = await b.inbox.admin.list({ limit: 1, after });
        seen.push(...page.events.map(({ id }) => id));
        after = page.next;
        if (after === undefined) break;
      }
      expect(seen).toEqual(merged);
    });

    test.each(["dead", undefined] as const)(
      "comes in pages that miss nothing and repeat nothing, in state %s",
      async (state) => {
        // The clock stands still, so all times are equal.
        await b.inbox.put(messages("1", "2", "3", "4", "5"), "webhook");
        for (let i = 0; i < 5; i++) await b.inbox.bury(await b.claim(), "x");
        const seen: string[] = [];
        let after: string | undefined;
        do {
          const page = await b.inbox.admin.list({ state, limit: 2, after });
          seen.push(...page.events.map(({ id }) => id));
          after = page.next;
        } while (after !== undefined);
        expect(seen).toEqual(["5", "4", "3", "2", "1"]);
      },
    );

    test("returns no next page when the last page is exactly full", async () => {
      await b.bury("1", "2");
      expect((await b.inbox.admin.list({ limit: 2 })).next).toBeUndefined();
      expect((await b.inbox.admin.list({ limit: 1 })).next).toBeTypeOf("string");
    });

    test.each([0, -5, 0.5, Number.NaN])("takes a limit of %s for 1", async (limit) => {
      await b.bury("1", "2");
      expect(await list({ limit })).toEqual(["2"]);
    });

    test("refuses a cursor that it did not give", async () => {
      for (const after of ["", "1", "a-b", "1-2-3", "' OR 1"]) {
        const listed = b.inbox.admin.list({ after });
        await expect(listed, after).rejects.toMatchObject({ code: "CURSOR_INVALID" });
      }
    });

    test("marks the event that is being handled, and not its successors", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const leased = async () =>
        (await b.inbox.admin.list()).events.filter((event) => event.leased).map(({ id }) => id);
      expect(await leased()).toEqual([]);
      const claim = await b.claim();
      expect(await leased()).toEqual(["1"]);
      // This event's lane sorts before the leased lane.
      await b.inbox.put(messages("0"), "poll");
      expect(await leased()).toEqual(["1"]);
      await b.inbox.retry(claim, 0, "x");
      expect(await leased()).toEqual([]);
    });
  });

  describe("show", () => {
    const b = bench(open);

    test("has the whole event, its history and its steps", async () => {
      const event = message("1");
      await b.inbox.put([event], "webhook");
      const claim = await b.claim();
      const began = b.clock.now();
      await b.inbox.beginStep(claim, "reply/1", '{"text":"hello"}');
      await b.inbox.finishStep(claim, "reply/1", '{"value":{"id":"m_1"}}', "dm:m_1");
      await b.clock.advance(1);
      await b.inbox.beginStep(claim, "step/pay", "");
      await b.inbox.bury(claim, "Error: boom");
      expect(await b.inbox.admin.show("1")).toMatchObject({
        id: "1",
        state: "dead",
        body: event.body,
        history: [{ number: 1, outcome: "dead" }],
        steps: [
          {
            name: "reply/1",
            state: "done",
            request: '{"text":"hello"}',
            result: '{"value":{"id":"m_1"}}',
            ref: "dm:m_1",
            startedAt: began,
          },
          { name: "step/pay", state: "open", request: "", result: undefined, ref: undefined },
        ],
      });
    });

    test("of an unusable event has the reason and no history", async () => {
      await b.inbox.put([{ ...message("1"), lane: "invalid", unusable: "no payload" }], "webhook");
      expect(await b.inbox.admin.show("1")).toMatchObject({
        state: "dead",
        error: "no payload",
        attempts: 0,
        history: [],
        steps: [],
      });
    });

    test("of an id that is not there is an error", async () => {
      await expect(b.inbox.admin.show("nope")).rejects.toMatchObject({
        code: "EVENT_NOT_FOUND",
        message: expect.stringContaining('"nope"'),
      });
    });
  });

  describe("the report", () => {
    const b = bench(open);

    test("counts by state, and dead letters by type, the most frequent first", async () => {
      const received = b.clock.now();
      await b.inbox.put([{ ...message("9", "c9"), type: "follow" }], "webhook");
      await b.inbox.bury(first(await b.inbox.claim(1, LEASE)), "x");
      await b.bury("1", "2", "3");
      await b.inbox.admin.discard("1", "spam");
      await b.inbox.put(messages("4"), "webhook");
      await b.inbox.complete(await b.claim());
      await b.inbox.put(messages("5"), "webhook");
      const report = await b.inbox.admin.stats();
      expect(report).toEqual({
        pending: 1,
        done: 1,
        dead: 3,
        discarded: 1,
        oldestPendingAt: received + 3,
        pendingByType: { "dm.message": 1 },
        deadByType: { "dm.message": 2, follow: 1 },
        deadByError: { Error: 2, x: 1 },
        lanes: { ready: 1, waiting: 0, leased: 0, blocked: 0 },
        storage: report.storage,
      });
      expect(Object.keys(report.deadByType)).toEqual(["dm.message", "follow"]);
      expect(report.storage.bytes).toBeGreaterThan(0);
    });

    test("distinguishes lanes: ready, waiting, running, and blocking others", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b"), message("3", "c")], "webhook");
      for (const claim of await b.inbox.claim(10, LEASE)) {
        if (claim.id === "3") continue;
        await b.inbox.retry(claim, 60_000, "x");
      }
      // Add one event behind another in a lane, and one in an unclaimed lane.
      await b.inbox.put([message("4", "a"), message("5", "d")], "webhook");
      const lanes = async () => (await b.inbox.admin.stats()).lanes;
      expect(await lanes()).toEqual({ ready: 1, waiting: 2, leased: 1, blocked: 1 });
      await b.clock.advance(60_000);
      expect(await lanes()).toEqual({ ready: 4, waiting: 0, leased: 0, blocked: 0 });
    });

    test("counts dead letters by the name and the code of their error", async () => {
      const died = async (id: string, error: string) => {
        await b.inbox.put(messages(id), "webhook");
        await b.inbox.bury(await b.claim(), error);
      };
      await died("1", "ServiceBotError STEP_UNCERTAIN: the run before: it ended");
      await died("2", "ServiceBotError STEP_UNCERTAIN: another one");
      await died("3", `no name ${"x".repeat(200)}`);
      expect((await b.inbox.admin.stats()).deadByError).toEqual({
        "ServiceBotError STEP_UNCERTAIN": 2,
        [`no name ${"x".repeat(72)}`]: 1,
      });
    });
  });
}
