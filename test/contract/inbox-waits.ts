import { describe, expect, test } from "vitest";
import type { Claim, EventSummary, InboxListOptions } from "../faces/inbox.ts";
import { RESTORED, writeRestoreMark } from "../faces/inbox.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

/** Errors of postponed runs as the dispatcher stores them, with the reason for the wait. */
const postponed = [
  ["LoopHeld: The loop guard postponed this event.", "loop_guard"],
  ["RetryLater: The handler postponed the event.", "postponed"],
  ["NetworkError API_CIRCUIT_OPEN: Not sent because the platform did not respond.", "platform"],
  [
    'NetworkError API_CIRCUIT_OPEN: Not sent because the quota for "POST /posts" is used up.',
    "quota",
  ],
  ["LimitError QUOTA_EXCEEDED: Enough for today.", "quota"],
  ["UnavailableError API_ERROR: 503", "platform"],
  [
    "AccessError API_ERROR: Not sent because the platform rejected the token or the app (401).",
    "token",
  ],
  ["NetworkError API_BUDGET_SPENT: Not sent.", "budget"],
  ["ServiceBotError STATE_CONFLICT: Another run changed the state in the meantime.", "conflict"],
  ["ServiceBotError STORE_UNAVAILABLE: away", "store"],
] as const;

export function waitsContract(open: OpenInbox): void {
  const b = bench(open);
  const listed = async (options: InboxListOptions = { state: "pending" }) => {
    const { events } = await b.inbox.admin.list(options);
    return new Map(events.map((event) => [event.id, event]));
  };
  const waitOf = async (id: string): Promise<EventSummary["wait"]> => {
    const event = (await listed()).get(id);
    expect(event?.wait).toEqual((await b.inbox.admin.show(id)).wait);
    return event?.wait;
  };

  describe("the wait of a pending event", () => {
    test("is for a free place, without a time, if its lane is ready", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const ready = { reason: "ready", nextAt: undefined, behind: undefined, error: undefined };
      expect(await waitOf("1")).toEqual(ready);
    });

    test("is for the retry after a failed run, with its time and error", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.retry(await b.claim(), 5_000, "TypeError: boom");
      const nextAt = b.clock.now() + 5_000;
      expect(await waitOf("1")).toMatchObject({
        reason: "retry",
        nextAt,
        error: "TypeError: boom",
      });
      await b.clock.advance(5_000);
      expect(await waitOf("1")).toMatchObject({ reason: "ready", nextAt: undefined });
    });

    test.each(postponed)("has the cause of a postponed run: %s is %s", async (error, reason) => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.release(await b.claim(), 5_000, error);
      expect(await waitOf("1")).toMatchObject({ reason, error, nextAt: b.clock.now() + 5_000 });
    });

    test("follows the last run, not an earlier one", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.release(await b.claim(), 0, "LoopHeld: x");
      await b.inbox.retry(await b.claim(), 5_000, "TypeError: boom");
      expect(await waitOf("1")).toMatchObject({ reason: "retry" });
    });

    test("is for the event of its lane that runs, or that waits before it", async () => {
      await b.inbox.put(messages("1", "2", "3"), "webhook");
      const claim = await b.claim();
      const behind = { reason: "lane", behind: "1", nextAt: undefined };
      expect(await waitOf("3")).toMatchObject(behind);
      await b.inbox.retry(claim, 5_000, "TypeError: boom");
      const nextAt = b.clock.now() + 5_000;
      expect(await waitOf("2")).toMatchObject({ ...behind, nextAt });
      expect(await waitOf("1")).toMatchObject({ reason: "retry", behind: undefined, nextAt });
    });

    test("names a crash", async () => {
      await b.inbox.put(messages("1"), "webhook");
      for (let n = 0; n < 3; n++) {
        await b.inbox.claim(1, LEASE);
        await b.clock.advance(LEASE + 1_000);
      }
      expect((await b.inbox.admin.show("1")).wait).toMatchObject({ behind: undefined });
    });

    test("is for the event log, after a restore", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const position = writeRestoreMark({ at: b.clock.now() });
      await b.inbox.put([], "poll", [{ name: RESTORED, position }]);
      expect(await waitOf("1")).toMatchObject({ reason: "restore" });
      const read = writeRestoreMark({ at: b.clock.now(), readAt: b.clock.now() });
      await b.inbox.put([], "poll", [{ name: RESTORED, position: read }]);
      expect(await waitOf("1")).toMatchObject({ reason: "ready" });
    });

    test("is absent from an event that runs or has ended", async () => {
      await b.bury("1");
      await b.inbox.put([message("2", "c2"), message("3", "c3")], "webhook");
      await b.inbox.complete(await b.claim());
      await b.claim();
      for (const event of (await listed({})).values()) expect(event.wait).toBeUndefined();
    });
  });

  describe("a run in progress", () => {
    const runOf = async (id: string) => (await b.inbox.admin.show(id)).run;

    test("shows when it began, however often its lease was extended", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.clock.advance(1_000);
      const startedAt = b.clock.now();
      const claim = await b.claim();
      await b.clock.advance(LEASE - 1_000);
      await b.inbox.extend([claim], LEASE);
      await b.clock.advance(LEASE - 1_000);
      expect(await runOf("1")).toEqual({ startedAt, step: undefined, instance: instanceOf() });
      expect((await listed()).get("1")?.run).toEqual(await runOf("1"));
    });

    test("that continues its lane began then", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      await b.clock.advance(5_000);
      await b.inbox.advance(claim);
      expect(await runOf("2")).toMatchObject({ startedAt: b.clock.now() });
      expect(await runOf("1")).toBeUndefined();
    });

    test("that began with its event's arrival began then", async () => {
      const claiming = b.inbox.claim(1, LEASE);
      await b.inbox.put(messages("1"), "webhook");
      if ((await claiming).length === 0) await b.claim();
      expect(await runOf("1")).toMatchObject({ startedAt: b.clock.now() });
    });

    test("shows the newest step without a result", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const claim = await b.claim();
      await b.inbox.beginStep(claim, "step/charge", "{}");
      expect(await runOf("1")).toMatchObject({ step: "step/charge" });
      await b.inbox.finishStep(claim, "step/charge", "1");
      expect(await runOf("1")).toMatchObject({ step: undefined });
    });

    test("is over once its lease has expired", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.claim();
      await b.clock.advance(LEASE + 1);
      expect(await runOf("1")).toBeUndefined();
    });

    const instanceOf = () => b.inbox.shared?.id;
  });

  describe("retrying a pending event", () => {
    const waiting = async (...ids: readonly string[]) => {
      await b.inbox.put(
        ids.map((id) => message(id, `c${id}`)),
        "webhook",
      );
      const claims = await b.inbox.claim(10, LEASE);
      for (const claim of claims) await b.inbox.retry(claim, 600_000, "TypeError: boom");
    };
    const claimed = async () =>
      (await b.inbox.claim(10, LEASE)).map(({ id, attempt }) => [id, attempt]);

    test("ends its wait, and keeps its attempts", async () => {
      await waiting("1", "2");
      expect(await b.inbox.admin.retry("1")).toEqual({ changed: 1, skipped: 0 });
      expect(await b.inbox.nextReadyIn()).toBe(0);
      expect(await waitOf("1")).toMatchObject({ reason: "ready", nextAt: undefined });
      expect(await claimed()).toEqual([["1", 2]]);
    });

    test("by filter takes only pending events, and only if the filter asks for them", async () => {
      await waiting("2", "3");
      await b.bury("4");
      expect(await b.inbox.admin.targets({ state: "pending" })).toEqual(["2", "3"]);
      expect(await b.inbox.admin.retry({ state: "pending", lane: "dm:c2" })).toMatchObject({
        changed: 1,
      });
      expect(await claimed()).toEqual([["2", 2]]);
      expect(await b.inbox.admin.retry({})).toMatchObject({ changed: 1 });
      expect((await b.inbox.admin.show("4")).state).toBe("pending");
      expect(await waitOf("3")).toMatchObject({ reason: "retry" });
    });

    test("wakes the dispatcher, and changes no count", async () => {
      await waiting("1");
      let calls = 0;
      b.inbox.onReady(() => {
        calls += 1;
      });
      await b.inbox.admin.retry("1");
      expect(calls).toBe(1);
      expect(await b.inbox.stats()).toMatchObject({ pending: 1, dead: 0 });
    });

    test("lets the first event of its lane run first", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.retry(await b.claim(), 600_000, "TypeError: boom");
      await b.inbox.admin.retry("2");
      expect(await claimed()).toEqual([["1", 2]]);
    });

    test("is refused while a handler runs, and takes no lease from it", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const claim = await b.claim();
      await expect(b.inbox.admin.retry("1")).rejects.toMatchObject({ code: "EVENT_LEASED" });
      await b.inbox.admin.retry("2");
      expect(await b.inbox.admin.retry({ state: "pending" })).toEqual({ changed: 1, skipped: 1 });
      expect(await claimed()).toEqual([]);
      expect(await b.inbox.complete(claim)).toBe(true);
    });

    test("settles no step", async () => {
      await waiting("1");
      await expect(b.inbox.admin.retry("1", { assume: "done" })).rejects.toMatchObject({
        code: "EVENT_NOT_DEAD",
      });
    });

    test("leaves an event alone that waits for nothing", async () => {
      await b.inbox.put(messages("1"), "webhook");
      expect(await b.inbox.admin.retry("1")).toEqual({ changed: 1, skipped: 0 });
      expect(await claimed()).toEqual([["1", 1]]);
    });
  });

  describe("the reason why no handler ran", () => {
    const endings: readonly [string, (claim: Claim) => Promise<unknown>][] = [
      ["complete", (claim) => b.inbox.complete(claim, undefined, "own_account")],
      ["advance", (claim) => b.inbox.advance(claim, undefined, LEASE, "own_account")],
      ["complete with effects", (claim) => b.inbox.complete(claim, NO_EFFECTS, "own_account")],
    ];

    test.each(endings)("is kept by %s, and forgotten by no reader", async (_name, end) => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await end(await b.claim());
      expect(await b.inbox.admin.show("1")).toMatchObject({
        state: "done",
        skipReason: "own_account",
        discardReason: undefined,
      });
      expect((await listed({ state: "done" })).get("1")?.skipReason).toBe("own_account");
    });

    test("is absent from an event that was handled, or discarded", async () => {
      await b.inbox.put([message("1", "a"), message("2", "b")], "webhook");
      await b.inbox.complete(await b.claim());
      await b.inbox.admin.discard("2", "own_account");
      for (const { skipReason } of (await listed({})).values()) expect(skipReason).toBeUndefined();
      expect((await b.inbox.admin.show("2")).discardReason).toBe("own_account");
    });
  });
}

const NO_EFFECTS = { states: [], timers: [], cancels: [] };
