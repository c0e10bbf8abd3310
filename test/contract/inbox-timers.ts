import { describe, expect, test } from "vitest";
import type { Effects } from "../faces/inbox.ts";
import { effects, eventOf, timer } from "../support/effects.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

const DAY = 86_400_000;

export function timersContract(open: OpenInbox): void {
  describe("timers", () => {
    const b = bench(open);
    let n = 0;
    const end = async (some: Partial<Effects>, conversation = "other") => {
      n += 1;
      await b.inbox.put([message(`1${n}`, conversation)], "webhook");
      await b.inbox.complete(await b.claim(), effects(some));
    };
    const fire = (limit = 100) => b.inbox.fireTimers(limit, eventOf);
    const keys = async (name = "remind", lane = "dm:c1") =>
      (await b.inbox.timers({ lane, name })).map(({ key }) => key);

    test("become events of their lane once they are due, and not before", async () => {
      expect(await fire()).toEqual({ fired: 0, nextInMs: undefined });
      await end({ timers: [timer("a", 1_000)] });
      expect(await b.inbox.timers({ lane: "dm:c1", name: "remind", key: "a" })).toEqual([
        {
          ...{ lane: "dm:c1", name: "remind", key: "a", eventId: "timer:remind:a" },
          ...{ body: '{"n":1}', dueAt: b.clock.now() + 1_000 },
        },
      ]);
      await b.clock.advance(999);
      expect(await fire()).toEqual({ fired: 0, nextInMs: 1 });
      expect(await b.inbox.stats()).toMatchObject({ pending: 0 });
      await b.clock.advance(1);
      expect(await fire()).toEqual({ fired: 1, nextInMs: undefined });
      expect(await fire()).toEqual({ fired: 0, nextInMs: undefined });
      expect(await keys()).toEqual([]);
      const claim = await b.claim();
      expect(claim).toMatchObject({
        ...{ id: "timer:remind:a", type: "timer:remind", lane: "dm:c1", attempt: 1, late: false },
        ...{ source: "poll" },
      });
      expect(JSON.parse(claim.body).payload).toMatchObject({ key: "a", data: { n: 1 } });
    });

    test("do not become events early, beside others that are due", async () => {
      await end({ timers: [timer("a", 1_000), timer("b", 1_001), timer("c", 1_002)] });
      await b.clock.advance(1_001);
      expect(await fire()).toEqual({ fired: 2, nextInMs: 1 });
      expect(await keys()).toEqual(["c"]);
    });

    test("announce when the first of them is due", async () => {
      const announced: number[] = [];
      const off = b.inbox.onTimersSet((inMs) => announced.push(inMs));
      await end({ timers: [timer("a", 5_000), timer("b", 1_000)] });
      await end({});
      off();
      await end({ timers: [timer("c", 1)] });
      expect(announced).toEqual([1_000]);
    });

    test("announce that lanes are ready when they fire", async () => {
      await end({ timers: [timer("a", 0)] });
      let times = 0;
      b.inbox.onReady(() => {
        times += 1;
      });
      await fire();
      expect(times).toBe(1);
    });

    test("of the same lane, name and key are replaced; others stay", async () => {
      await end({ timers: [timer("a", 1_000), timer("b", 1_000)] });
      await end({ timers: [timer("a", 2_000, { eventId: "timer:remind:new", body: '{"n":2}' })] });
      await end({ timers: [timer("a", 500, { name: "other", eventId: "timer:other:a" })] });
      await b.clock.advance(1_000);
      expect(await fire()).toEqual({ fired: 2, nextInMs: 1_000 });
      await b.clock.advance(1_000);
      expect(await fire()).toEqual({ fired: 1, nextInMs: undefined });
      const { events } = await b.inbox.admin.list({ state: "pending" });
      expect(events.map(({ id }) => id).sort()).toEqual([
        "timer:other:a",
        "timer:remind:b",
        "timer:remind:new",
      ]);
    });

    test("that a run sets twice have the last values", async () => {
      await end({ timers: [timer("a", 1_000), timer("b", 1), timer("a", 7_000)] });
      await b.clock.advance(1_000);
      expect(await fire()).toEqual({ fired: 1, nextInMs: 6_000 });
    });

    test("are cancelled by their key, or all of a name in a lane", async () => {
      const timers = ["a", "b", "c"].map((key) => timer(key, 1_000));
      const others = [timer("a", 1_000, { name: "other" }), timer("a", 1_000, { lane: "dm:c2" })];
      await end({ timers: [...timers, ...others] });
      await end({ cancels: [{ lane: "dm:c1", name: "remind", key: "b" }] });
      expect(await keys()).toEqual(["a", "c"]);
      await end({ cancels: [{ lane: "dm:c1", name: "remind" }] });
      expect(await keys()).toEqual([]);
      expect(await keys("other")).toEqual(["a"]);
      expect(await keys("remind", "dm:c2")).toEqual(["a"]);
      await end({ cancels: [{ lane: "dm:c1", name: "none" }] });
    });

    test("are cancelled before others are set", async () => {
      await end({ timers: [timer("a", 1_000), timer("b", 1_000)] });
      const cancels = [{ lane: "dm:c1", name: "remind" }];
      await end({ cancels, timers: [timer("b", 5_000), timer("c", 5_000)] });
      expect(await keys()).toEqual(["b", "c"]);
      expect(await fire()).toEqual({ fired: 0, nextInMs: 5_000 });
    });

    test("in the future hold up nothing in their lane", async () => {
      await end({ timers: [timer("a", DAY)] });
      expect(await b.inbox.nextReadyIn()).toBeUndefined();
      await b.inbox.put(messages("2"), "webhook");
      expect(await b.claim()).toMatchObject({ id: "2" });
    });

    test("wait for the run that is under way in their lane, and come before what waits behind it", async () => {
      await end({ timers: [timer("a", 0)] });
      await b.inbox.put(messages("21", "22"), "webhook");
      const claim = await b.claim();
      await fire();
      expect(await b.inbox.claim(10, LEASE)).toEqual([]);
      const { next } = await b.inbox.advance(claim);
      expect(next).toMatchObject({ id: "timer:remind:a", late: false });
      if (next === undefined) throw new Error("two events are left");
      // The timer neither delays the lane's next event nor changes earlier effects.
      expect(await b.inbox.advance(next)).toMatchObject({ next: { id: "22", late: false } });
      await b.inbox.put(messages("20"), "webhook");
      await b.clock.advance(LEASE);
      expect(await b.claim()).toMatchObject({ id: "20", late: true });
    });

    test("make their lane anew if it is gone", async () => {
      await end({ timers: [timer("a", 40 * DAY)] }, "c1");
      await b.clock.advance(40 * DAY);
      const keep = { bodiesMs: DAY, idsMs: DAY, deadLettersMs: DAY };
      for (let sweeps = 0; sweeps < 3; sweeps++) while (await b.inbox.sweep(keep));
      expect(await fire()).toMatchObject({ fired: 1 });
      const claim = await b.claim();
      expect(claim).toMatchObject({ id: "timer:remind:a", lane: "dm:c1", late: false });
      expect(await b.inbox.complete(claim)).toBe(true);
    });

    test("become events although the backlog is full", async () => {
      const full = await open({ clock: b.clock, maxBacklog: 1 });
      await full.put(messages("1"), "webhook");
      const [claim] = await full.claim(1, LEASE);
      if (claim === undefined) throw new Error("one event waits");
      await full.complete(claim, effects({ timers: [timer("a", 0), timer("b", 0)] }));
      await full.put([message("2", "c2")], "webhook");
      await expect(full.put([message("3", "c3")], "webhook")).rejects.toMatchObject({
        code: "INBOX_FULL",
      });
      expect(await full.fireTimers(10, eventOf)).toMatchObject({ fired: 2 });
      expect(await full.stats()).toMatchObject({ pending: 3 });
      await full.close();
    });

    test("of one lane are handled in the order in which they are due", async () => {
      await end({ timers: [timer("a", 300), timer("b", 100), timer("c", 200)] });
      await b.clock.advance(300);
      await fire();
      const handled: string[] = [];
      for (;;) {
        const [claim] = await b.inbox.claim(1, LEASE);
        if (claim === undefined) break;
        handled.push(claim.id);
        await b.inbox.complete(claim);
      }
      expect(handled).toEqual(["timer:remind:b", "timer:remind:c", "timer:remind:a"]);
    });

    test("whose event is already stored are removed, and store nothing", async () => {
      await end({ timers: [timer("a", 0)] });
      await fire();
      await b.inbox.complete(await b.claim());
      await end({ timers: [timer("a", 0)] });
      expect(await fire()).toEqual({ fired: 1, nextInMs: undefined });
      expect(await b.inbox.stats()).toMatchObject({ pending: 0 });
    });

    test("that cannot become events stay", async () => {
      await end({ timers: [timer("a", 0)] });
      const boom = () => {
        throw new TypeError("boom");
      };
      await expect(b.inbox.fireTimers(10, boom)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
      expect(await keys()).toEqual(["a"]);
      expect(await fire()).toMatchObject({ fired: 1 });
    });

    test("10,000 that are due become events page by page", async () => {
      const timers = Array.from({ length: 10_000 }, (_, nth) =>
        timer(String(nth), 0, { lane: `dm:c${nth % 1_000}`, eventId: `timer:remind:${nth}` }),
      );
      await end({ timers });
      let [fired, pages] = [0, 0];
      for (;;) {
        const page = await b.inbox.fireTimers(1_000, eventOf);
        fired += page.fired;
        pages += 1;
        if (page.nextInMs === undefined) break;
      }
      expect([fired, pages]).toEqual([10_000, 10]);
      expect(await b.inbox.stats()).toMatchObject({ pending: 10_000 });
    });
  });
}
