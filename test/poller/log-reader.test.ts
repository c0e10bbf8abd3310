import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ApiError } from "../faces/client.ts";
import { defaultLane } from "../faces/events.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { CURSOR, LogReader, type LogReaderOptions } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { logSink } from "../support/log.ts";
import { FakeLog } from "./fake-log.ts";

const signal = new AbortController().signal;
const MINUTE = 60_000;

let clock: ManualClock;
let inbox: SqliteInbox;
let log: FakeLog;
let lines: ReturnType<typeof logSink>;

beforeEach(() => {
  clock = new ManualClock(1_800_000_000_000);
  inbox = new SqliteInbox({ file: ":memory:", clock });
  log = new FakeLog(clock);
  lines = logSink();
});

async function open(options: Partial<LogReaderOptions> = {}): Promise<LogReader> {
  const reader = new LogReader({
    inbox,
    client: log,
    laneOf: defaultLane,
    log: lines.log,
    startFrom: "oldest",
    platformClock: { now: () => clock.now() },
    ...options,
  });
  await reader.open(signal);
  return reader;
}

const pending = async () => (await inbox.stats()).pending;

describe("the first start", () => {
  test("from now skips the events in the log, and reads later ones", async () => {
    log.add("1");
    const reader = await open({ startFrom: "now" });
    log.add("2");
    const found = await reader.read("cursor", signal);
    expect(found.map(({ id }) => id)).toEqual(["2"]);
  });

  test("from now skips a log of several pages with one request", async () => {
    for (let id = 1; id <= 120; id++) log.add(String(id));
    await open({ startFrom: "now" });
    expect(await inbox.cursor(CURSOR)).toBe("120");
    expect(log.requests).toEqual([""]);
  });

  test("a start from now stores its position immediately, so that a restart loses nothing", async () => {
    log.add("1");
    await open({ startFrom: "now" });
    expect(await inbox.cursor(CURSOR)).toBe("1");
    log.add("2");
    const restarted = await open({ startFrom: "now" });
    expect(await restarted.read("cursor", signal)).toMatchObject([{ id: "2" }]);
  });

  test("from now keeps its position while the store fails, so that no event is skipped", async () => {
    log.add("1");
    const firstStart = {};
    const put = () => Promise.reject(new Error("the database restarts"));
    const failing = { put, cursor: (name: string) => inbox.cursor(name) };
    await expect(open({ startFrom: "now", firstStart, inbox: failing })).rejects.toThrow();
    log.add("2");
    const reader = await open({ startFrom: "now", firstStart });
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "2" }]);
  });

  test.each(["", "0"])(
    "from now on an empty log, whose cursor is %j, gets everything made since",
    async (emptyCursor) => {
      log.emptyCursor = emptyCursor;
      const reader = await open({ startFrom: "now" });
      log.add("1");
      log.add("2");
      expect(await reader.read("head", signal)).toHaveLength(2);
      log.add("3");
      expect(await reader.read("cursor", signal)).toMatchObject([{ id: "3" }]);
    },
  );

  test("from now on an empty log stores its position, so that a restart skips no event", async () => {
    log.emptyCursor = "";
    await open({ startFrom: "now" });
    log.add("1");
    const restarted = await open({ startFrom: "now" });
    expect(await restarted.read("cursor", signal)).toMatchObject([{ id: "1" }]);
  });

  test("from the oldest reads all events", async () => {
    log.add("1");
    log.add("2");
    const reader = await open();
    expect(await reader.read("cursor", signal)).toHaveLength(2);
    expect(log.requests[0]).toBeUndefined();
  });

  test("on an empty log sends no empty cursor, because it would mean the present", async () => {
    const reader = await open();
    await reader.read("cursor", signal);
    log.add("1");
    expect(await reader.read("head", signal)).toMatchObject([{ id: "1" }]);
    expect(log.requests).not.toContain("");
  });
});

describe("a round", () => {
  test("follows the cursor to the end of the log, in pages of 50", async () => {
    for (let id = 1; id <= 120; id++) log.add(String(id), "follow");
    const reader = await open();
    expect(await reader.read("cursor", signal)).toHaveLength(120);
    expect(log.requests).toEqual([undefined, "50", "100", "120"]);
    expect(await pending()).toBe(120);
  });

  test("reports only events that are new to the inbox", async () => {
    log.add("1");
    log.add("2");
    const reader = await open();
    await reader.read("cursor", signal);
    log.add("3");
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "3", type: "dm.message" }]);
    expect(await pending()).toBe(3);
  });

  test("dates events by the platform's clock, and events without a date by the present", async () => {
    log.add("1", "follow", clock.now() - 5_000);
    log.entries.push({ id: "2", type: "follow", createdAt: "soon", payload: {} });
    const reader = await open();
    expect(await reader.read("cursor", signal)).toMatchObject([
      { id: "1", at: clock.now() - 5_000 },
      { id: "2", at: clock.now() },
    ]);
  });

  test("stores an event that cannot be handled as a dead letter and continues", async () => {
    log.entries.push({ id: "1", type: "dm.message", createdAt: "", payload: {} });
    log.add("2");
    const reader = await open();
    await reader.read("cursor", signal);
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1" }]);
    expect(await pending()).toBe(1);
  });

  test("from the head reads again what the store failed to take", async () => {
    log.add("1");
    let isFailing = false;
    const put: SqliteInbox["put"] = (...batch) =>
      isFailing ? Promise.reject(new Error("the disk is full")) : inbox.put(...batch);
    const reader = await open({ inbox: { put, cursor: (name) => inbox.cursor(name) } });
    await reader.read("cursor", signal);
    log.add("2");
    isFailing = true;
    await expect(reader.read("head", signal)).rejects.toThrow("the disk is full");
    isFailing = false;
    expect(await reader.read("head", signal)).toMatchObject([{ id: "2" }]);
  });

  test("from the head begins where the previous round ended", async () => {
    for (let id = 1; id <= 70; id++) log.add(String(id), "follow");
    const reader = await open();
    await reader.read("cursor", signal);
    log.requests.length = 0;
    await reader.read("head", signal);
    expect(log.requests).toEqual(["70"]);
  });

  test("without new events writes nothing", async () => {
    log.add("1", "follow", clock.now() - MINUTE);
    const reader = await open();
    await reader.read("cursor", signal);
    inbox.put = () => Promise.reject(new Error("it was written to"));
    expect(await reader.read("cursor", signal)).toEqual([]);
  });

  test("takes the time from the page, or from earlier responses if the page has none", async () => {
    log.add("1", "follow", clock.now() - MINUTE);
    const own = clock.now() - MINUTE;
    const dated = await open({ platformClock: { now: () => own } });
    await dated.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("1");
    log.add("2", "follow", clock.now() - MINUTE);
    const client: LogReaderOptions["client"] = {
      events: async (query) => ({ ...(await log.events(query)), date: undefined }),
    };
    const undated = await open({ client, platformClock: { now: () => own } });
    await undated.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("1");
  });
});

describe("the stored cursor", () => {
  test("the cursor never passes an event younger than a minute", async () => {
    log.add("1", "follow", clock.now() - MINUTE);
    const reader = await open();
    await reader.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("1");
    log.add("2");
    await reader.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("1");
    await clock.advance(MINUTE);
    await reader.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("2");
  });

  test("lets the next audit find an event that is committed late, below others", async () => {
    const reader = await open();
    log.add("2");
    await reader.read("cursor", signal);
    await clock.advance(MINUTE - 1);
    log.add("1", "dm.message", clock.now() - MINUTE + 1);
    expect(await reader.read("head", signal)).toEqual([]);
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "1" }]);
  });

  test("is not moved by a late read from the head past the events before the head", async () => {
    const reader = await open();
    log.add("10");
    await reader.read("cursor", signal);
    log.add("11");
    await clock.advance(50_000);
    log.add("9", "dm.message", clock.now() - 50_001);
    // The API was down. By now, events after the head are old, and events before it have not been reread.
    await clock.advance(20_000);
    await reader.read("head", signal);
    await reader.read("cursor", signal);
    expect(await pending()).toBe(3);
  });

  describe("ahead of the last event that the token can read", () => {
    const client: LogReaderOptions["client"] = {
      events: async (query) => {
        const page = await log.events(query);
        return { ...page, cursor: page.cursor === "1" ? "5" : page.cursor };
      },
    };

    beforeEach(async () => {
      log.add("1");
      await clock.advance(MINUTE + 1_000);
    });

    test("is stored once a minute has passed since it was seen", async () => {
      const reader = await open({ client });
      await reader.read("cursor", signal);
      await clock.advance(MINUTE);
      await reader.read("cursor", signal);
      expect(await inbox.cursor(CURSOR)).toBeUndefined();
      await clock.advance(1);
      await reader.read("cursor", signal);
      expect(await inbox.cursor(CURSOR)).toBe("5");
    });

    test("skips no event that is committed meanwhile", async () => {
      const reader = await open({ client });
      await reader.read("cursor", signal);
      log.add("4");
      await reader.read("cursor", signal);
      expect(await pending()).toBe(2);
    });
  });

  test("does not pass a page with a young event, even if older ones follow", async () => {
    for (let id = 1; id <= 80; id++) {
      log.add(String(id), "follow", id === 30 ? clock.now() : clock.now() - MINUTE);
    }
    const reader = await open();
    await reader.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBeUndefined();
    await clock.advance(MINUTE);
    await reader.read("cursor", signal);
    expect(await inbox.cursor(CURSOR)).toBe("80");
  });

  test("the cursor is written in the same transaction as its events", async () => {
    log.add("1", "follow", clock.now() - MINUTE);
    const reader = await open();
    const batches: unknown[] = [];
    const put = inbox.put.bind(inbox);
    inbox.put = (events, source, cursors) => {
      batches.push({ ids: events.map(({ id }) => id), cursors });
      return put(events, source, cursors);
    };
    await reader.read("cursor", signal);
    expect(batches).toEqual([{ ids: ["1"], cursors: [{ name: CURSOR, position: "1" }] }]);
  });

  test("does not move while the inbox is full", async () => {
    const full = new SqliteInbox({ file: ":memory:", clock, maxBacklog: 0 });
    onTestFinished(() => full.close());
    log.add("1", "follow", clock.now() - MINUTE);
    const reader = await open({ inbox: full });
    await expect(reader.read("cursor", signal)).rejects.toMatchObject({ code: "INBOX_FULL" });
    expect(await full.cursor(CURSOR)).toBeUndefined();
  });
});

describe("an event with an unusable date", () => {
  test.each([
    ["is missing", undefined],
    ["cannot be read", "2027-13-45"],
    ["lies ahead", "2999-01-01T00:00:00.000Z"],
  ])("counts as made when it was first seen: its date %s", async (_what, createdAt) => {
    const reader = await open();
    log.add("1", "follow", clock.now() - MINUTE);
    log.add("2");
    log.entries = log.entries.map((entry) =>
      entry.id === "2" ? { ...entry, createdAt: createdAt as string } : entry,
    );
    const began = clock.now();
    expect((await reader.read("cursor", signal)).at(-1)).toMatchObject({ id: "2", at: began });
    await clock.advance(MINUTE - 1);
    await reader.read("cursor", signal);
    expect(reader.cursor).toBeUndefined();
    await clock.advance(1);
    await reader.read("cursor", signal);
    expect(reader.cursor).toBe("2");
  });

  test.each([3, -3])(
    "is any event if the platform sends no time and is %i h off",
    async (hours) => {
      const events: typeof log.events = async (query) => ({
        ...(await log.events(query)),
        date: undefined,
      });
      const reader = await open({ client: { events } });
      log.add("2", "follow", clock.now() + hours * 60 * MINUTE);
      expect(await reader.read("cursor", signal)).toMatchObject([{ at: clock.now() }]);
      // The bot must not miss a late commit with a lower id.
      log.add("1", "follow", clock.now() + hours * 60 * MINUTE);
      await clock.advance(MINUTE - 1);
      expect(await reader.read("cursor", signal)).toMatchObject([{ id: "1" }]);
    },
  );
});

describe("a position that the platform rejects", () => {
  async function trimmed(): Promise<LogReader> {
    for (const id of ["1", "2", "3"]) log.add(id, "follow", clock.now() - MINUTE);
    const reader = await open();
    await reader.read("cursor", signal);
    log.entries = [];
    log.refusesBelow = "10";
    return reader;
  }

  test("is replaced by the oldest retained event, and reported once", async () => {
    const reader = await trimmed();
    log.requests.length = 0;
    for (let id = 10; id < 80; id++) log.add(String(id), "follow", clock.now() - MINUTE);
    expect(await reader.read("cursor", signal)).toHaveLength(70);
    expect(log.requests).toEqual(["3", undefined, "59", "79"]);
    expect(await inbox.cursor(CURSOR)).toBe("79");
    await reader.read("cursor", signal);
    const told = lines.records.filter(({ level }) => level === "warn");
    expect(told).toMatchObject([{ cursor: "3", err: { code: "VALIDATION" } }]);
  });

  test("is not sent again while no event replaces it", async () => {
    const reader = await trimmed();
    await reader.read("cursor", signal);
    log.requests.length = 0;
    await reader.read("head", signal);
    await reader.read("cursor", signal);
    expect(log.requests).toEqual([undefined, undefined]);
    expect(lines.records.filter(({ level }) => level === "warn")).toHaveLength(1);
    log.add("12", "follow");
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "12" }]);
  });

  test("is also replaced after a restart", async () => {
    await trimmed();
    log.add("11", "follow", clock.now() - MINUTE);
    const restarted = await open({ startFrom: "now" });
    expect(await restarted.read("cursor", signal)).toMatchObject([{ id: "11" }]);
    expect(await inbox.cursor(CURSOR)).toBe("11");
  });

  test("rejected by mistake, returns no event a second time", async () => {
    // These events were created before the bot's first start, so it must not handle them.
    for (let id = 1; id <= 120; id++) log.add(String(id), "follow", clock.now() - MINUTE);
    const reader = await open({ startFrom: "now" });
    log.add("121", "follow", clock.now() - MINUTE);
    log.failures = [new ApiError("no", { status: 400 })];
    const moves: unknown[] = [];
    const put = inbox.put.bind(inbox);
    inbox.put = (events, source, cursors = []) => {
      moves.push(...cursors.map(({ position }) => position));
      return put(events, source, cursors);
    };
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "121" }]);
    expect(await pending()).toBe(1);
    expect(moves).toEqual(["121"]);
    expect(lines.records).toContainEqual(expect.objectContaining({ level: "warn", events: 120 }));
  });

  test("rejected without later events, is not searched for page by page each time", async () => {
    for (let id = 1; id <= 120; id++) log.add(String(id), "follow", clock.now() - MINUTE);
    const reader = await open({ startFrom: "now" });
    log.failures = [new ApiError("no", { status: 400 })];
    await reader.read("cursor", signal);
    log.requests.length = 0;
    await reader.read("cursor", signal);
    expect(log.requests).toEqual(["120"]);
    expect(await inbox.cursor(CURSOR)).toBe("120");
    log.add("121", "follow", clock.now() - MINUTE);
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "121" }]);
    expect(await inbox.cursor(CURSOR)).toBe("121");
    expect(await pending()).toBe(1);
  });

  test("rejected again during the search for a new one, does not move back", async () => {
    for (let id = 1; id <= 120; id++) log.add(String(id), "follow", clock.now() - MINUTE);
    const reader = await open({ startFrom: "now" });
    log.entries = log.entries.filter(({ id }) => Number(id) <= 60);
    const no = new ApiError("no", { status: 400 });
    log.failures = [no];
    await reader.read("cursor", signal);
    log.failures = [no];
    for (const id of ["110", "121"]) log.add(id, "follow", clock.now() - MINUTE);
    expect(await reader.read("cursor", signal)).toMatchObject([{ id: "121" }]);
  });

  test("made of a prefix and digits skips no later event", async () => {
    for (const id of ["evt_8", "evt_9"]) log.add(id, "follow", clock.now() - MINUTE);
    const reader = await open({ startFrom: "now" });
    for (const id of ["evt_10", "evt_11"]) log.add(id, "follow", clock.now() - MINUTE);
    log.failures = [new ApiError("no", { status: 400 })];
    const found = await reader.read("cursor", signal);
    expect(found.map(({ id }) => id)).toEqual(["evt_10", "evt_11"]);
    expect(await inbox.cursor(CURSOR)).toBe("evt_11");
  });

  test("from a different id scheme than an event does not skip that event", async () => {
    log.add("evt_9", "follow", clock.now() - MINUTE);
    const reader = await open({ startFrom: "now" });
    for (const id of ["dm_5", "evt_08", "evt_0a"]) log.add(id, "follow", clock.now() - MINUTE);
    log.failures = [new ApiError("no", { status: 400 })];
    const found = await reader.read("cursor", signal);
    expect(found.map(({ id }) => id)).toEqual(["dm_5", "evt_0a"]);
  });

  test("is not blamed when the platform rejects every read", async () => {
    const reader = await trimmed();
    const refusal = new ApiError("no", { status: 404 });
    log.failures = [refusal, refusal];
    await expect(reader.read("cursor", signal)).rejects.toBe(refusal);
    expect(reader.cursor).toBe("3");
    expect(lines.records.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test.each([401, 403, 429, 500, 503])(
    "is not replaced after a response with %i",
    async (status) => {
      const reader = await trimmed();
      log.requests.length = 0;
      log.failures = [new ApiError("no", { status })];
      await expect(reader.read("cursor", signal)).rejects.toMatchObject({ status });
      expect(log.requests).toEqual(["3"]);
    },
  );
});

describe("the end of the log", () => {
  test("is reached when the cursor stops moving, even in an empty log", async () => {
    const reader = await open();
    expect(reader.atEnd).toBe(false);
    await reader.read("cursor", signal);
    expect(reader.atEnd).toBe(true);
  });

  test("is reached over any number of pages", async () => {
    for (let id = 1; id <= 150; id++) log.add(String(id), "follow");
    const client: LogReaderOptions["client"] = {
      events: (query) => log.events({ ...query, limit: 1 }),
    };
    const reader = await open({ client });
    expect(await reader.read("cursor", signal)).toHaveLength(150);
    expect(reader.atEnd).toBe(true);
  });

  test("is not assumed when a read gives up on pages without events", async () => {
    let pages = 150;
    const events = async ({ since = "0" }: { since?: string | undefined }) => {
      const moves = pages > 0;
      pages -= 1;
      return { events: [], cursor: String(Number(since) + (moves ? 1 : 0)), date: clock.now() };
    };
    const reader = await open({ client: { events } });
    await reader.read("head", signal);
    expect(reader.atEnd).toBe(false);
    await reader.read("head", signal);
    expect(reader.atEnd).toBe(true);
  });
});
