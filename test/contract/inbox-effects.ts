import { describe, expect, onTestFinished, test } from "vitest";
import type { Claim, Effects } from "../faces/inbox.ts";
import { effects, endings, keeps, timer } from "../support/effects.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

function fail(): never {
  throw new RangeError("Maximum call stack size exceeded");
}

export function effectsContract(open: OpenInbox): void {
  describe("the result of a step", () => {
    const b = bench(open);
    const step = "reply/1";
    const result = { step, result: '{"value":"sent"}', ref: "dm:m_1" };
    const begin = async (some: Claim) => {
      await b.inbox.beginStep(some, step, "hello");
      return some;
    };
    const stepOf = async ({ id }: Claim) => (await b.inbox.admin.show(id)).steps[0];

    test.each(Object.entries(endings))("is written with the event (%s)", async (_, end) => {
      await b.inbox.put([message("1"), message("2")], "webhook");
      const claim = await begin(await b.claim());
      expect(await end(b.inbox, claim, effects({ result }))).toBe(true);
      expect(await stepOf(claim)).toMatchObject({
        name: step,
        state: "done",
        result: result.result,
        ref: "dm:m_1",
      });
      expect(await b.inbox.claimedRefs(["dm:m_1"])).toEqual(new Set(["dm:m_1"]));
    });

    test.each(Object.entries(endings))(
      "has no id, and the longest possible name, beside others and states (%s)",
      async (_, end) => {
        const long = "n".repeat(4_000);
        await b.inbox.put([message("1", "c1"), message("2", "c2"), message("3", "c3")], "webhook");
        const claims = await b.inbox.claim(3, LEASE);
        for (const claim of claims) await b.inbox.beginStep(claim, long, "hello\0\ud800");
        const ended = claims.map((claim, nth) => {
          const some = effects({ result: { step: long, result: `"\0${nth}"`, ref: undefined } });
          return end(b.inbox, claim, nth === 0 ? some : { ...some, ...keeps(claim.lane, nth) });
        });
        expect(await Promise.all(ended)).toEqual([true, true, true]);
        for (const [nth, claim] of claims.entries()) {
          expect(await stepOf(claim)).toMatchObject({ state: "done", result: `"\0${nth}"` });
        }
      },
    );

    test.each(Object.entries(endings))(
      "is left alone if the lease was lost, and if a state is in conflict (%s)",
      async (_, end) => {
        await b.inbox.put([message("1")], "webhook");
        const lost = await begin(await b.claim());
        await b.clock.advance(LEASE);
        const held = await b.claim();
        expect(await end(b.inbox, lost, effects({ result }))).toBe(false);
        const conflict = end(b.inbox, held, { ...keeps("shared", 2, "old"), result });
        await expect(conflict).rejects.toMatchObject({ code: "STATE_CONFLICT" });
        expect(await stepOf(held)).toMatchObject({ state: "open" });
        expect(await b.inbox.claimedRefs(["dm:m_1"])).toEqual(new Set());
        expect(await b.inbox.finishStep(held, step, result.result, result.ref)).toBe(true);
      },
    );
  });

  describe("states", () => {
    const b = bench(open);
    const stateOf = async (key: string) => (await b.inbox.states([key]))[0];
    const contentOf = async (key: string): Promise<unknown> => {
      const state = await stateOf(key);
      return state === undefined ? undefined : JSON.parse(state.value);
    };
    const runOf = async (id: string, conversation = "c1"): Promise<Claim> => {
      await b.inbox.put([message(id, conversation)], "webhook");
      return await b.claim();
    };
    const write = async (id: string, some: Effects): Promise<void> => {
      await b.inbox.complete(await runOf(id, `of ${id}`), some);
    };

    test.each(Object.entries(endings))("are written with the event (%s)", async (_, end) => {
      expect(await end(b.inbox, await runOf("1"), keeps("dm:c1", { n: 1 }))).toBe(true);
      const state = await stateOf("dm:c1");
      expect(state).toMatchObject({ key: "dm:c1", value: '{"n":1}', updatedAt: b.clock.now() });
      await b.clock.advance(5);
      const next = keeps("dm:c1", { n: 2 }, state?.version);
      expect(await end(b.inbox, await runOf("2"), next)).toBe(true);
      expect(await stateOf("dm:c1")).toMatchObject({ value: '{"n":2}', updatedAt: b.clock.now() });
      expect((await stateOf("dm:c1"))?.version).not.toBe(state?.version);
    });

    test.each(Object.entries(endings))(
      "are left alone if the lease was lost (%s)",
      async (_, end) => {
        const lost = await runOf("1");
        await b.clock.advance(LEASE);
        const held = await b.claim();
        const some = { ...keeps("dm:c1", 1), timers: [timer("a", 0)] };
        expect(await end(b.inbox, lost, some)).toBe(false);
        expect(await stateOf("dm:c1")).toBeUndefined();
        expect(await b.inbox.timers({ lane: "dm:c1", name: "remind" })).toEqual([]);
        expect(await end(b.inbox, held, keeps("dm:c1", 2))).toBe(true);
        expect(await contentOf("dm:c1")).toBe(2);
      },
    );

    test("are left alone by the runs that lost their leases, beside others that end together", async () => {
      const ids = ["1", "2", "3", "4", "5", "6"];
      await b.inbox.put(
        ids.map((id) => message(id, id)),
        "webhook",
      );
      const lost = await b.inbox.claim(3, LEASE);
      await b.clock.advance(LEASE);
      const held = await b.inbox.claim(6, LEASE);
      expect(held).toHaveLength(6);
      const end = (claim: Claim, nth: number, by: string) => {
        const ways = Object.values(endings);
        const one = ways[nth % ways.length] ?? endings.complete;
        const set = [timer(by, 1_000, { lane: claim.lane })];
        return one(b.inbox, claim, { ...keeps(claim.lane, by), timers: set });
      };
      const ended = await Promise.all([
        ...lost.map((claim, nth) => end(claim, nth, "lost")),
        ...held.map((claim, nth) => end(claim, nth, "held")),
      ]);
      expect(ended).toEqual([false, false, false, true, true, true, true, true, true]);
      for (const { lane } of held) {
        expect(await contentOf(lane)).toBe("held");
        expect(await b.inbox.timers({ lane, name: "remind" })).toMatchObject([{ key: "held" }]);
      }
    });

    test.each(Object.entries(endings))(
      "that were written since are a conflict: nothing is written, and the run goes on (%s)",
      async (_, end) => {
        await write("1", keeps("shared", 1));
        const before = await stateOf("shared");
        const claim = await runOf("2");
        await write("3", keeps("shared", 3, before?.version));
        const some = {
          states: [...keeps("shared", 2, before?.version).states, ...keeps("dm:c1", 2).states],
          timers: [timer("a", 0)],
          cancels: [],
        };
        await expect(end(b.inbox, claim, some)).rejects.toMatchObject({ code: "STATE_CONFLICT" });
        expect(await contentOf("shared")).toBe(3);
        expect(await stateOf("dm:c1")).toBeUndefined();
        expect(await b.inbox.timers({ lane: "dm:c1", name: "remind" })).toEqual([]);
        expect(await b.inbox.stats()).toMatchObject({ pending: 1, done: 2, dead: 0 });
        // A conflict does not end the lease.
        expect(await b.inbox.extend([claim], LEASE)).toEqual([claim]);
        expect(await b.inbox.release(claim, 0, "ServiceBotError STATE_CONFLICT: again")).toBe(true);
        const again = await b.claim();
        expect(again).toMatchObject({ id: "2", attempt: 1, crashes: 0 });
        const version = (await stateOf("shared"))?.version;
        expect(await end(b.inbox, again, keeps("shared", 4, version))).toBe(true);
        expect(await contentOf("shared")).toBe(4);
      },
    );

    test("are a conflict if they came into being since, or are gone", async () => {
      const claim = await runOf("1");
      await write("2", keeps("shared", 2));
      const conflict = { code: "STATE_CONFLICT" };
      await expect(b.inbox.complete(claim, keeps("shared", 1))).rejects.toMatchObject(conflict);
      const version = (await stateOf("shared"))?.version;
      await write("3", effects({ states: [{ key: "shared", value: undefined, version }] }));
      expect(await stateOf("shared")).toBeUndefined();
      for (const value of ["1", undefined]) {
        const some = effects({ states: [{ key: "shared", value, version }] });
        await expect(b.inbox.complete(claim, some)).rejects.toMatchObject(conflict);
      }
      expect(await b.inbox.complete(claim, keeps("shared", 1))).toBe(true);
    });

    test.each(Object.entries(endings))(
      "stay written if a listener fails after the commit (%s)",
      async (_, end) => {
        const claim = await runOf("1");
        b.inbox.onTimersSet(fail);
        b.inbox.onReady(fail);
        expect(await end(b.inbox, claim, effects({ timers: [timer("a", 0)] }))).toBe(true);
        const { state } = await b.inbox.admin.show("1");
        expect(state).not.toBe("pending");
      },
    );

    test("of one key are written by the first of the runs that end together, and the others go on", async () => {
      await b.inbox.put(
        ["1", "2", "3", "4"].map((id) => message(id, id)),
        "webhook",
      );
      const claims = await b.inbox.claim(4, LEASE);
      const ended = await Promise.allSettled(
        claims.map((claim, nth) =>
          b.inbox.complete(claim, nth === 3 ? keeps("own", nth) : keeps("shared", nth)),
        ),
      );
      expect(ended.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "rejected",
        "fulfilled",
      ]);
      expect(await contentOf("shared")).toBe(0);
      expect(await contentOf("own")).toBe(3);
      expect(await b.inbox.stats()).toMatchObject({ pending: 2, done: 2 });
      for (const claim of claims.slice(1, 3)) expect(await b.inbox.complete(claim)).toBe(true);
    });

    test("have another version each time, also after a dead letter that is retried", async () => {
      const versions = new Set<string | undefined>([undefined]);
      for (const end of [endings.bury, endings.bury, endings.complete]) {
        const claim = versions.size === 1 ? await runOf("1") : await b.claim();
        await end(b.inbox, claim, keeps("k", versions.size, [...versions].at(-1)));
        versions.add((await stateOf("k"))?.version);
        if (end === endings.bury) await b.inbox.admin.retry("1");
      }
      expect(versions.size).toBe(4);
    });

    test("stay unchanged after runs that fail, are postponed, or end with the process", async () => {
      await write("1", keeps("dm:c1", 1));
      const before = await stateOf("dm:c1");
      await b.inbox.retry(await runOf("2"), 0, "x");
      await b.inbox.release(await b.claim(), 0, "x");
      await b.claim();
      await b.clock.advance(LEASE);
      expect(await b.claim()).toMatchObject({ crashes: 1 });
      expect(await stateOf("dm:c1")).toEqual(before);
    });

    test("are read by the next event of a lane that goes on", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      const { next } = await b.inbox.advance(await b.claim(), keeps("dm:c1", 1));
      const version = (await stateOf("dm:c1"))?.version;
      if (next === undefined) throw new Error("one event is left");
      expect(await b.inbox.complete(next, keeps("dm:c1", 2, version))).toBe(true);
      expect(await contentOf("dm:c1")).toBe(2);
    });

    test("are read together, and those that there are not are left out", async () => {
      await write("1", keeps("a", 1));
      await write("2", keeps("b", 2));
      const reads = [["a"], ["b", "none"], [], ["a", "b", "a"]].map((keys) => b.inbox.states(keys));
      const keys = (await Promise.all(reads)).map((states) => states.map(({ key }) => key).sort());
      expect(keys).toEqual([["a"], ["b"], [], ["a", "b"]]);
    });

    test("have any text as their key and in their value", async () => {
      const key = `own:\u001a \u{1f600} "'%_\\`;
      await write("1", keeps(key, "\0\ud800"));
      expect(await contentOf(key)).toBe("\0\ud800");
      await write("2", keeps(key, "again", (await stateOf(key))?.version));
      expect(await contentOf(key)).toBe("again");
    });

    test("of 64 KiB are kept whole", async () => {
      const value = "x".repeat(65_534);
      await write("1", keeps("k", value));
      expect(await contentOf("k")).toBe(value);
    });

    test("an event that ends without effects leaves none", async () => {
      for (const none of [undefined, effects({})]) {
        const inbox = await open({ clock: b.clock });
        onTestFinished(() => inbox.close());
        await inbox.put(messages("1"), "webhook");
        expect(await inbox.complete(first(await inbox.claim(1, LEASE)), none)).toBe(true);
        expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
      }
    });
  });
}
