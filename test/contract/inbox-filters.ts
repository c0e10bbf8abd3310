import { describe, expect, test } from "vitest";
import type { InboxFilter } from "../faces/inbox.ts";
import { message, messages } from "../support/inbox-events.ts";
import { bench, type OpenInbox } from "./open-inbox.ts";

export function filtersContract(open: OpenInbox): void {
  describe("a filter", () => {
    const b = bench(open);
    let began = 0;
    const HOUR = 3_600_000;

    /** Stores three dead letters an hour apart, and a pending event. */
    const fill = async (): Promise<void> => {
      const errors = [
        "ApiError NOT_FOUND: no such post: 100%_sure",
        "ApiError API_ERROR: NOT_FOUND: away",
        "TypeError: x is undefined",
      ];
      began = b.clock.now();
      for (const [index, error] of errors.entries()) {
        await b.inbox.put([message(`${index + 1}`, "c1")], index === 1 ? "poll" : "webhook");
        await b.inbox.bury(await b.claim(), error);
        await b.clock.advance(HOUR);
      }
      await b.inbox.put([message("4", "c4")], "poll");
    };

    const listed = async (filter: InboxFilter) =>
      (await b.inbox.admin.list({ ...filter, state: "dead" })).events.map(({ id }) => id);
    /** `list` and `targets` must select the same events. `targets` starts with the oldest event. */
    const chosen = async (filter: InboxFilter) => {
      const ids = await b.inbox.admin.targets(filter);
      expect((await listed(filter)).toReversed()).toEqual(ids);
      return ids;
    };

    test("asks for a part of the error, letter by letter", async () => {
      await fill();
      expect(await chosen({})).toEqual(["1", "2", "3"]);
      expect(await chosen({ error: "undefined" })).toEqual(["3"]);
      expect(await chosen({ error: "100%_" })).toEqual(["1"]);
      expect(await chosen({ error: "1%" })).toEqual([]);
      expect(await chosen({ error: "Undefined" })).toEqual([]);
    });

    test("asks for the code of the error, not for a text that mentions it", async () => {
      await fill();
      expect(await chosen({ code: "NOT_FOUND" })).toEqual(["1"]);
      expect(await chosen({ error: "NOT_FOUND" })).toEqual(["1", "2"]);
      expect(await chosen({ code: "FOUND" })).toEqual([]);
      expect(await chosen({ code: "TypeError" })).toEqual([]);
    });

    test("asks for a code that the error's class already names", async () => {
      await fill();
      await b.inbox.put([message("5", "c5")], "poll");
      const held = await b.inbox.claim(2, 1_000);
      for (const claim of held) await b.inbox.bury(claim, "GiveUp: no NOT_FOUND: here");
      const gaveUp = held.map(({ id }) => id);
      expect(await chosen({ code: "GAVE_UP" })).toEqual(gaveUp);
      expect(await chosen({ code: "GiveUp" })).toEqual([]);
      expect(await chosen({ code: "RETRY_LATER" })).toEqual([]);
      expect(await chosen({ code: "NOT_FOUND" })).toEqual(["1"]);
    });

    test("asks for the door, and for several things at once", async () => {
      await fill();
      expect(await chosen({ source: "webhook" })).toEqual(["1", "3"]);
      expect(await chosen({ source: "poll" })).toEqual(["2"]);
      expect(await chosen({ source: "webhook", error: "Error", code: "NOT_FOUND" })).toEqual(["1"]);
    });

    test("asks for a time: when it ended, or came, from one moment to just before another", async () => {
      await fill();
      expect(await chosen({ since: began + HOUR })).toEqual(["2", "3"]);
      expect(await chosen({ until: began + HOUR })).toEqual(["1"]);
      expect(await chosen({ since: began + 1, until: began + HOUR + 0.5 })).toEqual(["2"]);
      const pending = async (filter: InboxFilter) => {
        const ids = await b.inbox.admin.targets({ ...filter, state: "pending" });
        const page = await b.inbox.admin.list({ ...filter, state: "pending" });
        expect(page.events.map(({ id }) => id)).toEqual(ids);
        return ids;
      };
      expect(await pending({ since: began + 3 * HOUR })).toEqual(["4"]);
      expect(await pending({ until: began + 3 * HOUR })).toEqual([]);
      const all = await b.inbox.admin.list({ since: began + HOUR, until: began + 3 * HOUR + 1 });
      expect(all.events.map(({ id }) => id)).toEqual(["4", "3", "2"]);
    });

    test("holds for each page of a list", async () => {
      await fill();
      const filter = { state: "dead", until: began + 2 * HOUR, limit: 1 } as const;
      const first = await b.inbox.admin.list(filter);
      const second = await b.inbox.admin.list({ ...filter, after: first.next });
      expect([first, second].map(({ events }) => events[0]?.id)).toEqual(["2", "1"]);
      expect(second.next).toBeUndefined();
    });

    test("chooses what is retried, the oldest first, and no more than the limit", async () => {
      await fill();
      const one = { changed: 1, skipped: 0 };
      expect(await b.inbox.admin.targets({ limit: 2 })).toEqual(["1", "2"]);
      expect(await b.inbox.admin.retry({ error: "ApiError", limit: 1 })).toEqual(one);
      expect((await b.inbox.admin.show("1")).state).toBe("pending");
      expect(await b.inbox.admin.discard({ code: "API_ERROR" }, "gone")).toEqual(one);
      expect((await b.inbox.admin.show("2")).state).toBe("discarded");
      expect(await b.inbox.admin.targets({})).toEqual(["3"]);
    });
  });

  describe("a decision about many", () => {
    const b = bench(open);

    const bury = async (n: number): Promise<void> => {
      const ids = Array.from({ length: n }, (_, index) => `evt_${String(index).padStart(4, "0")}`);
      await b.inbox.put(
        messages(...ids).map((event) => ({ ...event, unusable: "no payload" })),
        "webhook",
      );
    };

    test("reports its progress, batch by batch", async () => {
      await bury(250);
      const seen: number[] = [];
      const onProgress = ({ done, of }: { done: number; of: number }) => {
        expect(of).toBe(250);
        seen.push(done);
      };
      expect(await b.inbox.admin.retry({}, { onProgress })).toEqual({ changed: 250, skipped: 0 });
      expect(seen).toEqual([100, 200, 250]);
    });

    test("ends after its batch when it is stopped, and returns how many are left", async () => {
      await bury(250);
      const stop = new AbortController();
      const options = { signal: stop.signal, onProgress: () => stop.abort() };
      expect(await b.inbox.admin.discard({}, "spam", options)).toEqual({
        changed: 100,
        skipped: 0,
        left: 150,
      });
      expect(await b.inbox.stats()).toMatchObject({ dead: 150 });
      expect(await b.inbox.admin.discard({}, "spam")).toEqual({ changed: 150, skipped: 0 });
    });
  });
}

const DAY = 86_400_000;

/** Filters by user and by arrival. */
export function peopleContract(open: OpenInbox): void {
  const b = bench(open);
  const by = (id: string, payload: object) => {
    const body = JSON.stringify({ id, type: "mention", createdAt: "", payload });
    return { ...message(id, `c${id}`), body };
  };
  const idsOf = async (filter: InboxFilter, state?: "dead" | "pending" | "done") =>
    (await b.inbox.admin.list({ ...filter, state })).events.map(({ id }) => id);

  describe("a filter by user", () => {
    const fill = () =>
      b.inbox.put(
        [
          by("1", { from: { userId: "u_1", username: "ada", name: "Ada" } }),
          by("2", { actor: { username: "Ada", name: "Ada" }, excerpt: "hello @ben" }),
          by("3", { actor: { username: "ben", name: "ada" } }),
          by("4", { from: { userId: "u_4", username: "łukasz", name: "" } }),
          by("5", { name: "remind", from: { userId: "u_1", username: "ada" } }),
          { ...message("6", "c6"), body: "not JSON", unusable: "no payload" },
        ],
        "webhook",
      );

    test("finds what an account caused, by its name or its id", async () => {
      await fill();
      for (const user of ["ada", "@ada", "ADA"])
        expect(await idsOf({ user })).toEqual(["5", "2", "1"]);
      expect(await idsOf({ user: "u_1" })).toEqual(["5", "1"]);
      expect(await idsOf({ user: "łukasz" })).toEqual(["4"]);
      expect(await idsOf({ user: "ad" })).toEqual([]);
      expect(await idsOf({ user: "U_1" })).toEqual([]);
    });

    test("applies together with the others, in every state, and pages", async () => {
      await fill();
      await b.inbox.complete(await b.claim());
      expect(await idsOf({ user: "ada" }, "done")).toEqual(["1"]);
      expect(await idsOf({ user: "ada", lane: "dm:c2" })).toEqual(["2"]);
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await b.inbox.admin.list({ user: "ada", limit: 1, after });
        seen.push(...page.events.map(({ id }) => id));
        after = page.next;
        if (after === undefined) break;
      }
      expect(seen.sort()).toEqual(["1", "2", "5"]);
    });

    test("selects for decisions, oldest first", async () => {
      await fill();
      const target = { user: "ada", state: "pending" } as const;
      expect(await b.inbox.admin.targets(target)).toEqual(["1", "2", "5"]);
      expect(await b.inbox.admin.targets({ ...target, limit: 2 })).toEqual(["1", "2"]);
      expect(await b.inbox.admin.discard(target, "spam")).toEqual({ changed: 3, skipped: 0 });
      expect(await idsOf({}, "pending")).toEqual(["4", "3"]);
    });

    test("finds an event behind a thousand others", async () => {
      await b.inbox.put([by("first", { actor: { username: "ada" } })], "webhook");
      const others = Array.from({ length: 1_200 }, (_, n) => {
        return by(`${n + 1}`, { actor: { username: "ben" } });
      });
      await b.inbox.put(others, "webhook");
      expect(await b.inbox.admin.list({ user: "ada" })).toMatchObject({
        events: [{ id: "first" }],
        next: undefined,
      });
    });
  });

  describe("a filter by arrival", () => {
    test("selects ended events by when they came, and not by when they ended", async () => {
      const start = b.clock.now();
      await b.inbox.put([message("1", "a")], "webhook");
      await b.clock.advance(3 * DAY);
      await b.inbox.put([message("2", "b")], "webhook");
      for (const claim of await b.inbox.claim(2, DAY)) await b.inbox.bury(claim, "x");
      const recent = { receivedSince: start + DAY };
      const old = { receivedUntil: start + DAY };
      for (const state of ["dead", undefined] as const) {
        expect(await idsOf(recent, state)).toEqual(["2"]);
        expect(await idsOf(old, state)).toEqual(["1"]);
        expect(await idsOf({ ...old, since: start + DAY }, state)).toEqual(["1"]);
        expect(await idsOf({ receivedSince: start, receivedUntil: start }, state)).toEqual([]);
      }
      expect(await b.inbox.admin.targets(old)).toEqual(["1"]);
    });
  });
}
