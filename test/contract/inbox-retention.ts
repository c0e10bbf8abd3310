import { describe, expect, test } from "vitest";
import type { Retention } from "../faces/inbox.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { effects } from "../support/effects.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, type OpenInbox } from "./open-inbox.ts";

const DAY = 86_400_000;
const KEEP: Retention = { bodiesMs: 7 * DAY, idsMs: 30 * DAY, deadLettersMs: 90 * DAY };

export function retentionContract(open: OpenInbox): void {
  describe("retention", () => {
    const b = bench(open);
    const afterDays = async (days: number) => {
      await b.clock.advance(days * DAY);
      while (await b.inbox.sweep(KEEP));
    };

    test("a body is kept for a week, then deleted with its steps; the id is kept", async () => {
      await b.inbox.put(messages("1"), "webhook");
      const done = await b.claim();
      await b.inbox.beginStep(done, "s", "text");
      await b.inbox.finishStep(done, "s", "1", "m_1");
      await b.inbox.complete(done);
      await afterDays(7);
      expect((await b.inbox.admin.show("1")).body).toBeDefined();
      expect((await b.inbox.admin.show("1")).steps).toHaveLength(1);
      await afterDays(1);
      expect((await b.inbox.admin.show("1")).body).toBeUndefined();
      expect((await b.inbox.admin.show("1")).steps).toEqual([]);
      expect(await b.inbox.put(messages("1"), "poll")).toMatchObject({ stored: [], duplicates: 1 });
    });

    test("a retried dead letter keeps its history if its lane was forgotten and made anew", async () => {
      await b.inbox.put(messages("1"), "webhook");
      for (let n = 0; n < 3; n++) await b.inbox.retry(await b.claim(), 0, "Error: boom");
      await b.inbox.bury(await b.claim(), "Error: boom");
      await afterDays(31);
      await b.inbox.put(messages("2"), "webhook");
      await b.inbox.complete(await b.claim());
      await b.inbox.admin.retry("1");
      await b.inbox.bury(await b.claim(), "Error: boom again");
      expect((await b.inbox.admin.show("1")).history).toHaveLength(5);
    });

    test("an id is kept for a month, and then forgotten", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.complete(await b.claim());
      await afterDays(30);
      expect(await b.inbox.put(messages("1"), "poll")).toMatchObject({ stored: [] });
      await afterDays(1);
      expect(await b.inbox.put(messages("1"), "poll")).toMatchObject({ stored: ["1"] });
    });

    test("a dead letter is kept whole for three months, and can be retried till then", async () => {
      await b.inbox.put(messages("1", "2"), "webhook");
      await b.inbox.bury(await b.claim(), "boom");
      await b.inbox.bury(await b.claim(), "boom");
      await afterDays(89);
      await b.inbox.admin.retry("1");
      expect(await b.claim()).toMatchObject({ id: "1" });
      await afterDays(2);
      expect(await deadLetters(b.inbox)).toEqual([]);
    });

    test("what is done is listed newest first, page by page, with its body and without", async () => {
      for (const id of ["1", "2", "3", "4", "5", "6"]) {
        await b.inbox.put([message(id, `c${Number(id) % 2}`)], "webhook");
        await b.inbox.complete(await b.claim());
        if (id === "4") await afterDays(8);
        // Two events end in the same millisecond, so their order of arrival decides.
        else if (id !== "2") await b.clock.advance(1);
      }
      const bodies = ["4", "5"].map(async (id) => (await b.inbox.admin.show(id)).body);
      expect(await Promise.all(bodies)).toEqual([undefined, expect.any(String)]);
      for (const limit of [1, 2, 3, 4, 6]) {
        const ids: string[] = [];
        let after: string | undefined;
        do {
          const page = await b.inbox.admin.list({ state: "done", limit, after });
          ids.push(...page.events.map(({ id }) => id));
          after = page.next;
        } while (after !== undefined);
        expect(ids, `pages of ${limit}`).toEqual(["6", "5", "4", "3", "2", "1"]);
      }
      const { events } = await b.inbox.admin.list({ state: "done", lane: "dm:c1" });
      expect(events.map(({ id }) => id)).toEqual(["5", "3", "1"]);
      expect(await b.inbox.stats()).toMatchObject({ pending: 0, done: 6, dead: 0 });
    });

    test("no body outlives its id, also where bodies are to be kept for longer", async () => {
      const keep: Retention = { ...KEEP, bodiesMs: 30 * DAY, idsMs: 7 * DAY };
      const sweep = async () => {
        while (await b.inbox.sweep(keep));
      };
      await b.inbox.put(messages("1"), "webhook");
      await b.inbox.complete(await b.claim());
      await b.clock.advance(7 * DAY);
      await sweep();
      expect((await b.inbox.admin.show("1")).body).toBeDefined();
      await b.clock.advance(DAY);
      await sweep();
      expect(await b.inbox.stats()).toMatchObject({ done: 0 });
      expect(await b.inbox.put(messages("1"), "poll")).toMatchObject({ stored: ["1"] });
    });

    test("states are kept forever by default, or for a set time after their last write", async () => {
      const keep: Retention = { ...KEEP, statesMs: 7 * DAY };
      const keys = Array.from({ length: 1_200 }, (_, n) => `k${n}`);
      const write = async (id: string, some: readonly string[], version?: string) => {
        await b.inbox.put(messages(id), "webhook");
        const states = some.map((key) => ({ key, value: "1", version }));
        await b.inbox.complete(await b.claim(), effects({ states }));
      };
      await write("1", [...keys, "kept"]);
      await afterDays(1_000);
      const [kept] = await b.inbox.states(["kept"]);
      await write("2", ["kept"], kept?.version);
      await b.clock.advance(7 * DAY);
      while (await b.inbox.sweep(keep));
      expect(await b.inbox.states([...keys, "kept"])).toMatchObject([{ key: "kept" }]);
      await b.clock.advance(1);
      while (await b.inbox.sweep(keep));
      expect(await b.inbox.states(["kept"])).toEqual([]);
    });

    test("what waits is never dropped, however old it is", async () => {
      await b.inbox.put(messages("1"), "webhook");
      await afterDays(1_000);
      expect(await b.claim()).toMatchObject({ id: "1" });
    });
  });
}
