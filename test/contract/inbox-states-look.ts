import { describe, expect, test } from "vitest";
import { effects, eventOf, keeps, timer } from "../support/effects.ts";
import { message } from "../support/inbox-events.ts";
import { bench, type OpenInbox } from "./open-inbox.ts";

export function statesLookContract(open: OpenInbox): void {
  describe("states and timers, as operators see them", () => {
    const b = bench(open);
    const run = async (id: string) => {
      await b.inbox.put([message(id, id)], "webhook");
      return await b.claim();
    };

    test("states are listed by their keys, page by page, from a prefix on", async () => {
      const { admin } = b.inbox;
      expect(await admin.states()).toEqual({ states: [], next: undefined });
      const keys = ["bot", "dm:1", "dm:2", "dm:\u{1f600}", "user:ada"];
      for (const [n, key] of keys.entries()) {
        await b.inbox.complete(await run(`${n}`), keeps(key, "é"));
      }
      const { states } = await admin.states();
      expect(states.map(({ key }) => key)).toEqual(keys);
      expect(states[0]).toMatchObject({ bytes: 4, updatedAt: b.clock.now() });
      expect(states[0]).not.toHaveProperty("value");
      const some = async (options: Parameters<typeof admin.states>[0]) => {
        const page = await admin.states(options);
        return [page.states.map(({ key }) => key), page.next];
      };
      expect(await some({ prefix: "dm:" })).toEqual([keys.slice(1, 4), undefined]);
      expect(await some({ prefix: "dm:", limit: 2 })).toEqual([["dm:1", "dm:2"], "dm:2"]);
      expect(await some({ prefix: "dm:", after: "dm:2" })).toEqual([[keys[3]], undefined]);
      expect(await some({ prefix: "none" })).toEqual([[], undefined]);
      expect(await some({ limit: 5 })).toEqual([keys, undefined]);
    });

    test("a state is found by its key", async () => {
      await b.inbox.complete(await run("1"), keeps("k", { n: 1 }));
      expect(await b.inbox.admin.state("k")).toEqual((await b.inbox.states(["k"]))[0]);
      expect(await b.inbox.admin.state("none")).toBeUndefined();
    });

    test("a state that is deleted while a run has it is a conflict for that run", async () => {
      await b.inbox.complete(await run("1"), keeps("k", 1));
      const [before] = await b.inbox.states(["k"]);
      const claim = await run("2");
      expect(await b.inbox.admin.deleteState("k")).toBe(true);
      expect(await b.inbox.admin.deleteState("k")).toBe(false);
      const late = keeps("k", 2, before?.version);
      await expect(b.inbox.complete(claim, late)).rejects.toMatchObject({ code: "STATE_CONFLICT" });
      expect(await b.inbox.complete(claim, keeps("k", 0))).toBe(true);
    });

    test("timers are made due by their names, and are fired as always, once", async () => {
      const { admin } = b.inbox;
      const timers = [
        timer("a", 3_600_000),
        timer("b", 7_200_000),
        timer("c", 3_600_000, { name: "other" }),
        timer("d", 3_600_000, { lane: "dm:c2" }),
      ];
      await b.inbox.complete(await run("1"), effects({ timers }));
      const announced: number[] = [];
      const off = b.inbox.onTimersSet((inMs) => announced.push(inMs));
      const [lane, name] = ["dm:c1", "remind"];
      expect(await admin.makeTimersDue({ lane, name, key: "none" })).toBe(0);
      expect(await admin.makeTimersDue({ lane: "dm:c3", name })).toBe(0);
      expect(announced).toEqual([]);
      expect(await admin.makeTimersDue({ lane, name, key: "a" })).toBe(1);
      expect(announced).toEqual([0]);
      off();
      const [due] = await b.inbox.timers({ lane, name, key: "a" });
      expect(due).toEqual({ ...timer("a", 0), delayMs: undefined, dueAt: b.clock.now() });
      // A timer that is already due keeps its time.
      await b.clock.advance(5);
      expect(await admin.makeTimersDue({ lane, name })).toBe(2);
      const [still, next] = await b.inbox.timers({ lane, name });
      expect([still?.dueAt, next?.dueAt]).toEqual([b.clock.now() - 5, b.clock.now()]);
      expect(await b.inbox.fireTimers(10, eventOf)).toMatchObject({ fired: 2 });
      expect(await admin.makeTimersDue({ lane, name })).toBe(0);
      const body = (await admin.show("timer:remind:a")).body ?? "";
      expect(JSON.parse(body).payload).toMatchObject({ key: "a", data: { n: 1 } });
      expect((await admin.timers()).timers.map(({ key }) => key)).toEqual(["c", "d"]);
    });

    test("timers are listed in the order in which they are due, page by page", async () => {
      const { admin } = b.inbox;
      const timers = [
        timer("a", 3_000),
        timer("b", 1_000),
        timer("c", 1_000, { lane: "dm:c2" }),
        timer("d", 2_000, { name: "other" }),
      ];
      await b.inbox.complete(await run("1"), effects({ timers }));
      const some = async (options: Parameters<typeof admin.timers>[0]) => {
        const page = await admin.timers(options);
        return page.timers.map(({ key }) => key);
      };
      expect(await some({})).toEqual(["b", "c", "d", "a"]);
      expect(await some({ lane: "dm:c1" })).toEqual(["b", "d", "a"]);
      expect(await some({ name: "remind" })).toEqual(["b", "c", "a"]);
      expect(await some({ lane: "dm:c2", name: "other" })).toEqual([]);
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await admin.timers({ limit: 1, after });
        found.push(...page.timers.map(({ key }) => key));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(["b", "c", "d", "a"]);
      expect((await admin.timers({ limit: 1 })).timers).toEqual([
        {
          ...{
            lane: "dm:c1",
            name: "remind",
            key: "b",
            eventId: "timer:remind:b",
            body: '{"n":1}',
          },
          dueAt: b.clock.now() + 1_000,
        },
      ]);
      for (const wrong of ["", "x", "[1]", '[1.5,"a","b","c"]', '[1,2,"b","c"]', "{}", "null"]) {
        await expect(admin.timers({ after: wrong })).rejects.toMatchObject({
          code: "CURSOR_INVALID",
        });
      }
    });
  });
}
