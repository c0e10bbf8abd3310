import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { orderKey } from "../faces/events.ts";
import { type Claim, type NewEvent, readBatch, shortenKey } from "../faces/inbox.ts";
import { effects, eventOf, keeps, timer } from "../support/effects.ts";
import { message } from "../support/inbox-events.ts";
import { bench, LEASE, type OpenInbox } from "./open-inbox.ts";

/** Different texts that a store could mistake for each other. */
const texts: readonly string[] = [
  ...["\ud800", "\ud801", "\udfff", "\ufffd", "\ufffd\ufffd", "\ud83d\ude00", "\ude00\ud83d"],
  ...["a\ud800", "\ud800a", "a", "A", "a ", "a\0", "a\0b", "a\0c", "\0", "\0\0", "b"],
  ...[
    "\u001a",
    "\u001a\u001a",
    "\u001a0000",
    "\u001ad800",
    "\u001a\ud800",
    "\ud800\u001a",
    "\u001b",
  ],
  ...["\u00e9", "e\u0301", "\ufb01", "fi", "\u212b", "\u00c5", "\u0130", "i\u0307", "\u200b"],
  ...["'", '"', "\\", "\\0", "\\ud800", "%", "_", "NULL", "null", "{}", "\n", "\r\n", "\ufeff"],
];

const sorted = (list: readonly string[]) => [...list].sort();

export function textsContract(open: OpenInbox): void {
  describe("texts that look alike", () => {
    const b = bench(open);

    const putAll = (event: (text: string, n: number) => Partial<NewEvent>) =>
      b.inbox.put(
        texts.map((text, n) => ({ ...message(`${n}`, `${n}`), ...event(text, n) })),
        "webhook",
      );

    const claimAll = () => b.inbox.claim(texts.length + 1, LEASE);
    /** Returns the claim of a new event in a lane of its own. */
    const runOf = async (id: string): Promise<Claim> => {
      await b.inbox.put([message(id, id)], "webhook");
      return await b.claim();
    };

    test("are different events as ids", async () => {
      const ids = (text: string) => ({ id: text, ord: orderKey(text) });
      expect(await putAll(ids)).toMatchObject({ stored: texts, duplicates: 0 });
      expect(await putAll(ids)).toMatchObject({ stored: [], duplicates: texts.length });
      const claims = await claimAll();
      expect(sorted(claims.map(({ id }) => id))).toEqual(sorted(texts));
      for (const [n, claim] of claims.entries()) {
        if (n % 3 === 0) expect(await b.inbox.complete(claim)).toBe(true);
        else if (n % 3 === 1) expect(await b.inbox.bury(claim, `Error: ${claim.id}`)).toBe(true);
        else expect(await b.inbox.retry(claim, 1, `Error: ${claim.id}`)).toBe(true);
      }
      const { events } = await b.inbox.admin.list({ limit: 100 });
      expect(sorted(events.map(({ id }) => id))).toEqual(sorted(texts));
      for (const [n, { id }] of claims.entries()) {
        const shown = await b.inbox.admin.show(id);
        expect(shown).toMatchObject({ id, state: ["done", "dead", "pending"][n % 3] });
        if (n % 3 === 0) continue;
        expect(shown.error).toBe(`Error: ${id}`);
        expect(shown.history).toMatchObject([{ error: `Error: ${id}` }]);
      }
    });

    test("are different events to operators", async () => {
      await putAll((text) => ({ id: text, ord: orderKey(text), unusable: `Error: ${text}` }));
      const [retried, discarded] = [texts.slice(0, 20), texts.slice(20)];
      for (const id of retried) await b.inbox.admin.retry(id);
      for (const id of discarded) await b.inbox.admin.discard(id, `for ${id}x`);
      const of = async (state: "pending" | "discarded") =>
        (await b.inbox.admin.list({ state, limit: 100 })).events;
      expect(sorted((await of("pending")).map(({ id }) => id))).toEqual(sorted(retried));
      for (const { id, discardReason } of await of("discarded")) {
        expect(discarded).toContain(id);
        expect(discardReason).toBe(`for ${id}x`);
      }
      expect(sorted((await claimAll()).map(({ id }) => id))).toEqual(sorted(retried));
    });

    test("are different lanes", async () => {
      await putAll((text) => ({ lane: text }));
      const claims = await claimAll();
      expect(sorted(claims.map(({ lane }) => lane))).toEqual(sorted(texts));
      // An earlier event is late only in its own lane.
      for (const claim of claims) await b.inbox.complete(claim);
      const late = "\ud801";
      await b.inbox.put(
        [
          { ...message("00", "x"), lane: late, ord: orderKey("0") },
          { ...message("999", "x"), lane: "\ud802", ord: orderKey("0") },
        ],
        "poll",
      );
      const again = await claimAll();
      expect(again.map((claim) => [claim.lane, claim.late])).toEqual([
        [late, true],
        ["\ud802", false],
      ]);
      for (const lane of texts.slice(0, 10)) {
        const { events } = await b.inbox.admin.list({ lane });
        expect(new Set(events.map((event) => event.lane))).toEqual(new Set([lane]));
      }
    });

    test("are different lanes after a lease, a retry and a healing", async () => {
      await putAll((text) => ({ lane: text }));
      for (const claim of await claimAll()) await b.inbox.retry(claim, 1_000, "Error: no");
      await b.clock.advance(1_000);
      expect(sorted((await claimAll()).map(({ lane }) => lane))).toEqual(sorted(texts));
      await b.inbox.heal();
      await b.clock.advance(LEASE);
      const claims = await claimAll();
      expect(sorted(claims.map(({ lane }) => lane))).toEqual(sorted(texts));
      expect(await b.inbox.extend(claims, LEASE)).toHaveLength(texts.length);
      for (const claim of claims) {
        expect(await b.inbox.advance(claim)).toMatchObject({ held: true, next: undefined });
      }
    });

    test("are different types", async () => {
      await putAll((text) => ({ type: text }));
      expect(await b.inbox.webhookTypes()).toEqual(new Set(texts));
      const { pendingByType } = await b.inbox.admin.stats();
      expect(sorted(Object.keys(pendingByType))).toEqual(sorted(texts));
      const byType = new Map(texts.map((text) => [text, text === "\ud800" ? 1 : 0]));
      const claims = await b.inbox.claim(texts.length, LEASE, { byType, others: 1 });
      expect(claims.map(({ type }) => type)).toEqual(["\ud800"]);
      const { events } = await b.inbox.admin.list({ type: "\ud801" });
      expect(events).toMatchObject([{ type: "\ud801" }]);
    });

    test("are different states", async () => {
      const claim = await runOf("first");
      const states = texts.flatMap((key, n) => keeps(key, n).states);
      await b.inbox.complete(claim, effects({ states }));
      const stored = await b.inbox.states(texts);
      expect(new Map(stored.map(({ key, value }) => [key, Number(value)]))).toEqual(
        new Map(texts.map((key, n) => [key, n])),
      );
      const listed = (await b.inbox.admin.states({ limit: 100 })).states;
      expect(sorted(listed.map(({ key }) => key))).toEqual(sorted(texts));
      // A page begins after the key that its cursor names.
      const half = await b.inbox.admin.states({ limit: 20 });
      const rest = await b.inbox.admin.states({ limit: 100, after: half.next });
      expect([...half.states, ...rest.states]).toEqual(listed);
      expect(await b.inbox.admin.deleteState("\ud800")).toBe(true);
      expect(await b.inbox.admin.state("\ud800")).toBeUndefined();
      expect(await b.inbox.admin.state("\ud801")).toMatchObject({ key: "\ud801", value: "1" });
    });

    test("are different versions of a state", async () => {
      for (const id of ["\ud800", "\ud801"]) {
        const before = (await b.inbox.states(["shared"]))[0]?.version;
        await b.inbox.put([{ ...message(id, id), ord: orderKey(id) }], "webhook");
        await b.inbox.complete(await b.claim(), keeps("shared", id, before));
        expect((await b.inbox.states(["shared"]))[0]?.version).not.toBe(before);
      }
    });

    test.each(["lane", "name", "key"] as const)("are different timers, by %s", async (field) => {
      const timers = texts.map((text, n) => {
        return timer("same", 1_000, { [field]: text, eventId: `timer:remind:${n}` });
      });
      await b.inbox.complete(await runOf("first"), effects({ timers }));
      const named = { lane: "dm:c1", name: "remind", key: "same" };
      for (const [n, text] of texts.entries()) {
        expect(await b.inbox.timers({ ...named, [field]: text })).toMatchObject([
          { [field]: text, eventId: `timer:remind:${n}` },
        ]);
      }
      const cancels = [{ ...named, [field]: "\ud800" }];
      await b.inbox.complete(await runOf("second"), effects({ cancels }));
      expect(await b.inbox.admin.makeTimersDue({ ...named, [field]: "\ud801" })).toBe(1);
      const left = (await b.inbox.admin.timers({ limit: 100 })).timers;
      expect(sorted(left.map((one) => one[field]))).toEqual(
        sorted(texts.filter((text) => text !== "\ud800")),
      );
      expect(await b.inbox.fireTimers(100, eventOf)).toMatchObject({ fired: 1 });
      await b.clock.advance(1_000);
      expect(await b.inbox.fireTimers(100, eventOf)).toMatchObject({ fired: texts.length - 2 });
    });

    test("are different steps and results", async () => {
      const claim = await runOf("first");
      for (const text of texts) {
        expect(await b.inbox.beginStep(claim, text, `"${text}"`)).toEqual({ state: "new" });
      }
      for (const [n, text] of texts.entries()) {
        expect(await b.inbox.finishStep(claim, text, `${n}`, text)).toBe(true);
      }
      for (const [n, text] of texts.entries()) {
        expect(await b.inbox.beginStep(claim, text, "again")).toMatchObject({
          ...{ state: "done", request: `"${text}"`, result: `${n}` },
        });
      }
      expect(await b.inbox.claimedRefs([...texts, "\ud802"])).toEqual(new Set(texts));
      expect(await b.inbox.dropStep(claim, "\ud800")).toBe(true);
      const { steps } = await b.inbox.admin.show("first");
      expect(sorted(steps.map(({ name }) => name))).toEqual(sorted(texts));
      const other = await runOf("second");
      for (const ref of ["\ud800", "\ud802"]) await b.inbox.beginStep(other, ref, "");
      expect(await b.inbox.reconcileStep(other, "\ud800", "", "\ud800")).toBe("taken");
      expect(await b.inbox.reconcileStep(other, "\ud802", "", "\ud802")).toBe("adopted");
    });

    test("are different cursors and positions", async () => {
      const moves = texts.map((text) => ({ name: text, position: text }));
      await b.inbox.put([], "poll", moves);
      for (const text of texts) expect(await b.inbox.cursor(text)).toBe(text);
      expect(await b.inbox.cursor("\ud802")).toBeUndefined();
    });
  });

  describe("long keys", () => {
    const b = bench(open);
    /** Random, because an index compresses a text that repeats itself. */
    const long = (characters: number) =>
      randomBytes(characters).toString("hex").slice(0, characters);

    test("of events are stored, even if each character is escaped", async () => {
      const NUL = "\0".repeat(500);
      const raw = ["a", "b", "c"].map((end) => ({
        ...{ id: `${"\0".repeat(90)}${end}`, type: `${"\0".repeat(90)}${end}` },
        ...{ createdAt: "", payload: {} },
      }));
      const batch = readBatch(raw, ({ id }) => NUL + id);
      const { stored } = await b.inbox.put(batch, "webhook");
      expect(sorted(stored)).toEqual(raw.map(({ id }) => id));
      const claims = await b.inbox.claim(10, LEASE);
      expect(sorted(claims.map(({ type }) => type))).toEqual(raw.map(({ type }) => type));
      expect(new Set(claims.map(({ lane }) => lane)).size).toBe(3);
    });

    test("that differ only in lone surrogates are different lanes", () => {
      const [one, other] = ["\ud800", "\ud801"].map((end) => shortenKey("x".repeat(600) + end));
      expect(one).not.toBe(other);
    });

    test("of timers are stored", async () => {
      await b.inbox.put([message("1")], "webhook");
      const name = { lane: long(512), name: long(512), key: long(512) };
      await b.inbox.complete(await b.claim(), effects({ timers: [timer("", 0, name)] }));
      expect(await b.inbox.timers(name)).toMatchObject([name]);
    });

    test("of steps and their results are stored and told apart", async () => {
      await b.inbox.put([message("1")], "webhook");
      const claim = await b.claim();
      const [name, ref] = [long(20_000), `dm:${long(20_000)}`];
      for (const end of ["a", "b"]) {
        expect(await b.inbox.beginStep(claim, name + end, "{}")).toEqual({ state: "new" });
        expect(await b.inbox.finishStep(claim, name + end, `"${end}"`, ref + end)).toBe(true);
      }
      expect(await b.inbox.beginStep(claim, `${name}a`, "{}")).toMatchObject({ result: '"a"' });
      const refs = [`${ref}a`, `${ref}b`];
      expect(await b.inbox.claimedRefs([...refs, `${ref}c`])).toEqual(new Set(refs));
      await b.inbox.beginStep(claim, `${name}c`, "{}");
      expect(await b.inbox.reconcileStep(claim, `${name}c`, "{}", `${ref}a`)).toBe("taken");
      expect(await b.inbox.reconcileStep(claim, `${name}c`, "{}", `${ref}c`)).toBe("adopted");
    });
  });
}
