import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type EventPage, NetworkError } from "../faces/client.ts";
import { defaultLane, orderKey } from "../faces/events.ts";
import type { CursorMove, NewEvent, PutResult, Source } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { CURSOR, type FoundEvent, LogReader } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { mulberry32 } from "../support/mulberry32.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { FakeLog } from "./fake-log.ts";

const MINUTE = 60_000;
const PAGE = 50;
/**
 * Number of events on thirteen pages, the last one partly filled. The reader stores page 1, pages 2 to 11, and pages 12
 * and 13 in one transaction each.
 */
const EVENTS = 620;
/** Total number of stored pages after each `put`. */
const PAGES_STORED = [1, 11, 13];

interface Interruption {
  readonly at: "request" | "put";
  readonly n: number;
  readonly how: /** Aborts the request, or rejects the `put`. */
    | "fails"
    /** Rejects the `put`. The page requested at the same time fails as well. */
    | "fails, and the next page too"
    /** Stops the bot while the request is in flight. */
    | "is aborted"
    /** Kills the process before the call. */
    | "is not reached"
    /** Kills the process after the call, before the caller gets the result. */
    | "is the last thing done";
}

/** One process of the bot: a reader whose requests and writes can be interrupted. */
class Life {
  readonly requests: { readonly since: string | undefined; readonly limit: number | undefined }[] =
    [];
  readonly found: FoundEvent[] = [];
  readonly stored: string[] = [];
  readonly #log: FakeLog;
  readonly #inbox: SqliteInbox;
  readonly #interruption: Interruption | undefined;
  readonly #reader: LogReader;
  readonly #stopping = new AbortController();
  readonly #killed = Promise.withResolvers<"killed">();
  readonly #refused = Promise.withResolvers<void>();
  #opened = false;
  #dead = false;
  #puts = 0;

  constructor(clock: ManualClock, log: FakeLog, inbox: SqliteInbox, interruption?: Interruption) {
    this.#log = log;
    this.#inbox = inbox;
    this.#interruption = interruption;
    this.#reader = new LogReader({
      inbox: { put: (...batch) => this.#put(...batch), cursor: (name) => inbox.cursor(name) },
      client: { events: (query, options) => this.#events(query, options?.signal) },
      laneOf: defaultLane,
      log: logSink().log,
      startFrom: "oldest",
      platformClock: { now: () => clock.now() },
    });
  }

  async live(from: "cursor" | "head" = "cursor"): Promise<"read" | "failed" | "killed"> {
    const { signal } = this.#stopping;
    const read = async () => {
      if (!this.#opened) await this.#reader.open(signal);
      this.#opened = true;
      await this.#reader.read(from, signal, this.found);
    };
    const ended = read().then(
      () => "read" as const,
      () => "failed" as const,
    );
    const how = await Promise.race([ended, this.#killed.promise]);
    // Let the page fail only now, when the reader is no longer waiting for it.
    this.#refused.resolve();
    for (let turns = 0; turns < 3; turns++) await turn();
    return how;
  }

  async #events(
    query: { since?: string | undefined; limit?: number | undefined } = {},
    signal?: AbortSignal,
  ): Promise<EventPage> {
    if (this.#dead) return await never();
    const { since, limit } = query;
    const n = this.requests.push({ since, limit });
    const interruption = this.#interruption;
    if (interruption?.how === "fails, and the next page too" && n === pagesBy(interruption.n) + 1) {
      await this.#refused.promise;
      throw brokenConnection();
    }
    if (interruption?.at === "request" && interruption.n === n) {
      if (interruption.how === "is not reached") return await this.#die();
      await turn();
      if (interruption.how === "fails") throw brokenConnection();
      this.#stopping.abort();
      signal?.throwIfAborted();
    }
    return await this.#log.events(query);
  }

  async #put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
    trace?: string,
  ): Promise<PutResult> {
    if (this.#dead) return await never();
    this.#puts += 1;
    const interruption = this.#interruption;
    const here = interruption?.at === "put" && interruption.n === this.#puts;
    if (here && interruption.how === "is not reached") return await this.#die();
    if (here && interruption.how.startsWith("fails")) throw new Error("disk full");
    const result = await this.#inbox.put(events, source, cursors, trace);
    this.stored.push(...result.stored);
    if (here) return await this.#die();
    return result;
  }

  #die(): Promise<never> {
    this.#dead = true;
    this.#killed.resolve("killed");
    return never();
  }
}

function brokenConnection(): NetworkError {
  return new NetworkError("API_UNREACHABLE", "the connection broke", { sent: false });
}

function never(): Promise<never> {
  return new Promise(() => {});
}

const kindsOfIds: Readonly<Record<string, (n: number) => string>> = {
  "ids of digits": (n) => String(n),
  // The ids have different lengths. If compared as text, the last ids would come first.
  "ids beyond 2^53": (n) => String(99_999_999_999_999_900n + BigInt(n)),
  "ids that are no numbers": (n) => `evt_${String(n).padStart(6, "0")}`,
};

function pagesBy(puts: number): number {
  return PAGES_STORED[puts - 1] ?? 0;
}

/** Points at which a read of {@link EVENTS} events can be interrupted, and the number of pages stored by then. */
const points: readonly (Interruption & { readonly pages: number })[] = [
  ...[1, 2, 3, 4, 8, 12, 13, 14].flatMap((n) => [
    { at: "request" as const, n, how: "fails" as const, pages: n - 1 },
    { at: "request" as const, n, how: "is aborted" as const, pages: n - 1 },
    // Pages sharing a transaction with the previous page were not stored yet.
    {
      at: "request" as const,
      n,
      how: "is not reached" as const,
      pages: PAGES_STORED.findLast((pages) => pages < n - 1) ?? 0,
    },
  ]),
  ...[1, 2, 3].flatMap((n) => [
    { at: "put" as const, n, how: "fails" as const, pages: pagesBy(n - 1) },
    {
      at: "put" as const,
      n,
      how: "fails, and the next page too" as const,
      pages: pagesBy(n - 1),
    },
    { at: "put" as const, n, how: "is not reached" as const, pages: pagesBy(n - 1) },
    { at: "put" as const, n, how: "is the last thing done" as const, pages: pagesBy(n) },
  ]),
];

let unhandled: unknown[];

beforeEach(() => {
  unhandled = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
});

/** Returns the ids before the cursor that are missing from the inbox. There must never be any. */
function passedOver(
  ids: readonly string[],
  cursor: string | undefined,
  known: ReadonlySet<string>,
) {
  if (cursor === undefined) return [];
  return ids.filter((id) => orderKey(id) <= orderKey(cursor) && !known.has(id));
}

function idsIn(file: string): string[] {
  const db = new Database(file, { readonly: true });
  const ids = db.prepare("SELECT id FROM event ORDER BY ord").pluck().all() as string[];
  db.close();
  return ids;
}

/** The form of the ids does not affect how a read is interrupted, so each form is tested at only some of the points. */
const someWays = points.filter(({ at, how }) =>
  at === "put" ? how === "is the last thing done" : how === "fails",
);

describe.each(
  Object.entries(kindsOfIds).map(([kind, idOf], n) => ({
    kind,
    idOf,
    at: n === 0 ? points : someWays,
  })),
)("a read of thirteen pages with $kind", ({ idOf, at }) => {
  test.each(at)("resumes without loss when $at $n $how", async ({ pages, ...point }) => {
    const clock = new ManualClock(1_800_000_000_000);
    const log = new FakeLog(clock);
    const file = join(temporaryFolder(), "bot.db");
    for (let n = 1; n <= EVENTS; n++) log.add(idOf(n), "follow", clock.now() - MINUTE - EVENTS + n);
    const ids = log.entries.map(({ id }) => id);

    const inbox = new SqliteInbox({ file, clock });
    const interrupted = new Life(clock, log, inbox, point);
    const end = await interrupted.live();
    expect(end).toBe(/killed|last|reached/.test(point.how) ? "killed" : "failed");
    const cursor = await inbox.cursor(CURSOR);
    await inbox.close();
    const known = idsIn(file);
    expect(passedOver(ids, cursor, new Set(known))).toEqual([]);
    expect(known).toEqual(ids.slice(0, pages * PAGE));
    expect(cursor).toBe(pages === 0 ? undefined : known.at(-1));
    // The mode is notified of exactly the events that were stored, unless the process was killed first.
    if (end === "failed") {
      expect(interrupted.found.map(({ id }) => id)).toEqual(interrupted.stored);
    }

    const reopened = new SqliteInbox({ file, clock });
    const resumed = new Life(clock, log, reopened);
    expect(await resumed.live()).toBe("read");
    await reopened.close();
    expect(idsIn(file)).toEqual(ids);
    expect([...interrupted.stored, ...resumed.stored]).toEqual(ids);
    const [request] = resumed.requests;
    expect(request?.since).toBe(cursor);
    expect(resumed.requests).toHaveLength(Math.ceil((EVENTS - known.length) / PAGE) + 1);
    expect(unhandled).toEqual([]);
  });
});

describe("pages of 50 are requested while the previous page is stored", () => {
  const clock = new ManualClock(1_800_000_000_000);
  const log = new FakeLog(clock);
  for (let n = 1; n <= EVENTS; n++) log.add(String(n), "follow", clock.now() - MINUTE);

  async function read(answered: () => Promise<unknown>): Promise<string[]> {
    const inbox = new SqliteInbox({ file: ":memory:", clock });
    onTestFinished(() => inbox.close());
    const trace: string[] = [];
    const reader = new LogReader({
      client: {
        events: async ({ since, limit = 0 } = {}) => {
          trace.push(`request ${since ?? 0}, limit ${limit}`);
          await answered();
          trace.push(`answer ${since ?? 0}`);
          return await log.events({ since, limit });
        },
      },
      inbox: {
        cursor: (name) => inbox.cursor(name),
        put: async (events, ...rest) => {
          trace.push(`store ${events.length}`);
          const result = await inbox.put(events, ...rest);
          trace.push(`stored ${events.length}`);
          return result;
        },
      },
      laneOf: defaultLane,
      log: logSink().log,
      startFrom: "oldest",
      platformClock: clock,
      clock,
    });
    const { signal } = new AbortController();
    await reader.open(signal);
    await reader.read("cursor", signal);
    return trace;
  }

  const pageAt = (since: number) => [`request ${since}, limit 50`, `answer ${since}`];
  const written = (events: number) => [`store ${events}`, `stored ${events}`];

  test("and shares a transaction with pages that arrive immediately, up to 500 events", async () => {
    // A response takes longer than storing a page.
    const answered = async () => {
      for (let turns = 0; turns < 10; turns++) await turn();
    };
    expect(await read(answered)).toEqual([
      ...pageAt(0),
      ...["request 50, limit 50", ...written(50), "answer 50"],
      ...[100, 150, 200, 250, 300, 350, 400, 450, 500].flatMap(pageAt),
      ...["request 550, limit 50", ...written(500), "answer 550"],
      ...pageAt(600),
      ...pageAt(620),
      ...written(70),
    ]);
  });

  test("and is stored before a slow next page arrives", async () => {
    const trace = await read(async () => {
      for (let turns = 0; turns < 10; turns++) await turn();
      await clock.advance(1_000);
      for (let turns = 0; turns < 10; turns++) await turn();
    });
    expect(trace).toEqual([
      ...pageAt(0),
      ...Array.from({ length: 12 }, (_, n) => {
        const since = 50 * (n + 1);
        return [`request ${since}, limit 50`, ...written(50), `answer ${since}`];
      }).flat(),
      ...["request 620, limit 50", ...written(20), "answer 620"],
    ]);
  });
});

const SEED = Number(process.env.SEED ?? 20261120);

describe(`interrupted again and again, while events commit late (SEED=${SEED})`, () => {
  const seeds = Array.from({ length: 6 }, (_, n) => SEED + n);

  // The excluded interruption waits for a page that these reads might never request.
  const randomPoints = points.filter(({ how }) => how !== "fails, and the next page too");

  test.each(seeds)("seed %i: no event is skipped, and each arrives once", async (seed) => {
    const random = mulberry32(seed);
    const upTo = (limit: number) => Math.floor(random() * limit);
    const kinds = Object.values(kindsOfIds);
    const idOf = kinds[seed % kinds.length] ?? String;
    const clock = new ManualClock(1_800_000_000_000);
    const log = new FakeLog(clock);
    const inbox = new SqliteInbox({ file: ":memory:", clock });
    onTestFinished(() => inbox.close());
    /** All assigned ids, including those of uncommitted events. */
    const ids: string[] = [];
    let uncommitted: { readonly id: string; readonly at: number; readonly commitAt: number }[] = [];
    const stored: string[] = [];

    const commit = () => {
      const due = uncommitted.filter(({ commitAt }) => commitAt <= clock.now());
      uncommitted = uncommitted.filter((event) => !due.includes(event));
      for (const { id, at } of due) log.add(id, "follow", at);
    };
    const happen = async () => {
      for (let events = upTo(90); events > 0; events--) {
        const id = idOf(ids.length + 1);
        ids.push(id);
        const delay = random() < 0.3 ? upTo(MINUTE) : 0;
        uncommitted.push({ id, at: clock.now(), commitAt: clock.now() + delay });
        if (random() < 0.2) await clock.advance(upTo(4_000));
        commit();
      }
      await clock.advance(upTo(MINUTE / 2));
      commit();
    };
    const read = async (life: Life, from: "cursor" | "head" = "cursor") => {
      const before = life.stored.length;
      const end = await life.live(from);
      stored.push(...life.stored.slice(before));
      expect(passedOver(ids, await inbox.cursor(CURSOR), new Set(stored))).toEqual([]);
      return end;
    };

    for (let round = 0; round < 8; round++) {
      await happen();
      const { pages: _, ...point } = randomPoints[upTo(randomPoints.length)] ?? { pages: 0 };
      const interruption = random() < 0.7 && "at" in point ? point : undefined;
      const life = new Life(clock, log, inbox, interruption);
      // A running bot continues from its position. Only an audit looks back.
      while ((await read(life, random() < 0.5 ? "cursor" : "head")) === "read") {
        if (random() < 0.4) break;
        await happen();
      }
    }
    await clock.advance(MINUTE + 1);
    commit();
    expect(await read(new Life(clock, log, inbox))).toBe("read");
    expect(stored.toSorted()).toEqual(ids.toSorted());
    expect(await inbox.cursor(CURSOR)).toBe(ids.at(-1));
    expect(unhandled).toEqual([]);
  });
});
