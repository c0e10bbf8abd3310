import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { NewEvent } from "../faces/inbox.ts";
import { attachInbox, type SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { copyAsKilled } from "../support/killed-copy.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type WatchedSyncs, watchSyncs } from "../support/watched-syncs.ts";

const LEASE = 30_000;
const SECOND = 1_000;

/** An event that the store rejects. */
const REFUSED = { ...message("x"), type: null } as unknown as NewEvent;

let folder: string;
let file: string;
let clock: ManualClock;
let inbox: SqliteInbox;

function open(path: string): SqliteInbox {
  return openSqlite({ file: path, clock });
}

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "bot.db");
  clock = new ManualClock(1_800_000_000_000);
  inbox = open(file);
});

/** Returns a copy of the file, as a process killed at this point would leave it. */
const killed = (name: string) => copyAsKilled(file, join(folder, name));

/** Waits until the writes of this event loop turn have been committed. */
const written = () => setImmediate();

const synced = (isSo: () => boolean) => vi.waitUntil(isSo, { interval: 1 });

function laneRows(): number {
  const db = new Sqlite(file, { readonly: true });
  try {
    return db.prepare<[], number>("SELECT count(*) FROM lane").pluck().get() ?? 0;
  } finally {
    db.close();
  }
}

/** Puts one event in each of `count` lanes, and completes them. */
async function endInLanes(count: number): Promise<readonly string[]> {
  const lanes = Array.from({ length: count }, (_, nth) => `lane ${nth}`);
  await inbox.put(
    lanes.map((lane, nth) => message(`${nth + 5_000}`, lane)),
    "webhook",
  );
  const claims = await inbox.claim(count, LEASE);
  await Promise.all(claims.map((claim) => inbox.complete(claim)));
  return lanes;
}

/** Puts an event in each lane that comes before those that have ended. Returns how many are claimed as late. */
async function lateIn(path: string, lanes: readonly string[]): Promise<number> {
  const bot = open(path);
  await bot.put(
    lanes.map((lane, nth) => message(`${nth + 1_000}`, lane)),
    "webhook",
  );
  const claims = await bot.claim(lanes.length + 1, LEASE);
  return claims.filter(({ late }) => late).length;
}

describe("a power loss", () => {
  let syncs: WatchedSyncs;

  beforeEach(() => {
    syncs = watchSyncs();
  });

  /** Returns the number of syncs that a write waits for. */
  async function syncsOf(write: () => Promise<unknown>): Promise<number> {
    const before = syncs.count;
    await write();
    return syncs.count - before;
  }

  test("cannot undo what was acknowledged, an intent, or a decision", async () => {
    expect(await syncsOf(() => inbox.put(messages("1", "2"), "webhook"))).toBe(1);
    const moved = [{ name: "events", position: "3" }];
    expect(await syncsOf(() => inbox.put(messages("3"), "poll", moved))).toBe(1);
    const claim = first(await inbox.claim(1, LEASE));
    expect(await syncsOf(() => inbox.beginStep(claim, "step/reply", "hi"))).toBe(1);
    expect(await syncsOf(() => inbox.bury(claim, "boom"))).toBe(0);
    expect(await syncsOf(() => inbox.admin.retry("1"))).toBe(1);
  });

  test("can undo an outcome for a second, until the file is synced", async () => {
    await inbox.put(messages("1"), "webhook");
    await clock.advance(SECOND);
    await synced(() => syncs.count === 1);
    await inbox.complete(first(await inbox.claim(1, LEASE)));
    await clock.advance(SECOND - 1);
    await written();
    expect(syncs.count).toBe(1);
    await clock.advance(1);
    await synced(() => syncs.count === 2);
    await clock.advance(10 * SECOND);
    await written();
    expect(syncs.count).toBe(2);
  });

  test.each([
    ["dm:m_1", 0],
    ["post:p_1", 1],
    [undefined, 1],
  ])("the result of a step with the ref %s waits for %i syncs", async (ref, expected) => {
    await inbox.put(messages("1"), "webhook");
    const claim = first(await inbox.claim(1, LEASE));
    await inbox.beginStep(claim, "step", "");
    expect(await syncsOf(() => inbox.finishStep(claim, "step", "{}", ref))).toBe(expected);
  });

  test("a sync that fails is tried again", async () => {
    await inbox.put(messages("1"), "webhook");
    await inbox.complete(first(await inbox.claim(1, LEASE)));
    syncs.wait = Promise.reject(new Error("EIO"));
    syncs.wait.catch(() => undefined);
    await clock.advance(SECOND);
    await written();
    expect(syncs.count).toBe(1);
    syncs.wait = Promise.resolve();
    await clock.advance(SECOND);
    await synced(() => syncs.count === 2);
  });
});

test("the lane of an event that was discarded during its run is free after the heartbeat", async () => {
  await inbox.put([message("1", "a"), message("2", "a")], "webhook");
  const [claim] = await inbox.claim(1, LEASE);
  const db = new Sqlite(file);
  db.exec("UPDATE event SET state = 'discarded', done_at = 0, leased_until = NULL WHERE id = '1'");
  db.close();
  expect(await inbox.extend(claim === undefined ? [] : [claim], LEASE)).toEqual([]);
  expect((await inbox.claim(1, LEASE)).map(({ id }) => id)).toEqual(["2"]);
});

test.each([
  { others: 3, withClaim: false },
  { others: 100, withClaim: true },
])(
  "a lane that waits behind $others lanes of another type gets a slot of its type",
  async (given) => {
    await inbox.put([message("1", "a")], "webhook");
    const claim = first(await inbox.claim(1, LEASE));
    const others = Array.from({ length: given.others }, (_, nth) => {
      return { ...message(`${nth + 1_000}`, `b${nth}`), type: "comment" };
    });
    await inbox.put(others, "webhook");
    await clock.advance(1);
    await inbox.put([message("5", "c")], "webhook");
    const rooms = { byType: new Map([["comment", 0]]), others: 1 };
    const advanced = inbox.advance(claim, undefined, LEASE);
    const claimed = given.withClaim ? inbox.claim(1, LEASE, rooms) : [];
    await inbox.put([message("6", "d")], "webhook");
    expect((await advanced).next?.id).toBe("5");
    expect((await claimed).map(({ id }) => id)).toEqual(given.withClaim ? ["6"] : []);
  },
);

describe("a kill", () => {
  test("does not forget which event of a lane ended last", async () => {
    const lanes = await endInLanes(3);
    expect(laneRows()).toBe(0);
    expect(await lateIn(killed("left.db"), lanes)).toBe(3);
  });

  test("does not forget which of two forms of ids ended last", async () => {
    for (const id of ["evt_10", "22"]) {
      await inbox.put([message(id, "a")], "webhook");
      await inbox.complete(first(await inbox.claim(1, LEASE)));
    }
    const after = open(killed("killed.db"));
    await after.put([message("1", "a")], "webhook");
    expect(await after.claim(1, LEASE)).toMatchObject([{ id: "1", late: true }]);
  });

  test("does not forget the order if the clock was set back before the last start", async () => {
    await endInLanes(1);
    await inbox.close();
    clock = new ManualClock(clock.now() - 60 * 60 * SECOND);
    inbox = open(file);
    await inbox.put([message("50", "b")], "webhook");
    await inbox.complete(first(await inbox.claim(1, LEASE)));
    const after = open(killed("killed.db"));
    await after.put([message("40", "b")], "webhook");
    expect(await after.claim(1, LEASE)).toMatchObject([{ id: "40", late: true }]);
  });

  test("forgets nothing while the rows of the lanes are being written", async () => {
    const lanes = await endInLanes(1_200);
    const rows: number[] = [];
    for (let second = 1; second <= 4; second++) {
      // Rows are written with each sync, and a sync follows a claim.
      await inbox.claim(0, LEASE);
      await clock.advance(SECOND);
      await written();
      rows.push(laneRows());
      expect(await lateIn(killed(`left-${second}.db`), lanes)).toBe(1_200);
    }
    expect(rows).toEqual([500, 1_000, 1_200, 1_200]);
  });

  test("forgets nothing after a write of the rows was undone", async () => {
    const lanes = await endInLanes(600);
    let refused: Promise<unknown> = Promise.resolve();
    // Shares the transaction of the next tick.
    clock.timer(SECOND, () => {
      refused = expect(inbox.put([REFUSED], "webhook")).rejects.toThrow();
    });
    await clock.advance(SECOND, () => Promise.resolve());
    await refused;
    await written();
    expect(laneRows()).toBe(600);
    expect(await lateIn(killed("left.db"), lanes)).toBe(600);
  });
});

test("no fence is used twice, even if its transaction was rolled back and the process was then killed", async () => {
  await inbox.put(messages("1"), "webhook");
  const exec = Sqlite.prototype.exec;
  const commits = vi.spyOn(Sqlite.prototype, "exec").mockImplementation(function (
    this: Sqlite.Database,
    sql,
  ) {
    if (sql === "COMMIT") throw new Error("rolled back");
    return exec.call(this, sql);
  });
  onTestFinished(() => commits.mockRestore());
  await expect(inbox.claim(1, LEASE)).rejects.toThrow();
  commits.mockRestore();
  const { fence } = first(await inbox.claim(1, LEASE));
  const again = first(await open(killed("left.db")).claim(1, LEASE));
  expect(again.fence).toBeGreaterThan(fence);
});

test("an event that waits in memory and is discarded by another process is not claimed", async () => {
  await inbox.put([message("1", "a"), message("2", "b")], "webhook");
  const attached = attachInbox(file, clock);
  await attached.admin.discard("1", "spam");
  await attached.close();
  expect(await inbox.claim(10, LEASE)).toMatchObject([{ id: "2" }]);
  expect(await inbox.admin.show("1")).toMatchObject({ state: "discarded" });
});

test("a claim keeps a lane in which another process has retried an event, if the lane got a new one as well", async () => {
  const slow = ["1", "2", "3"].map((id) => ({ ...message(id, `lane ${id}`), type: "slow" }));
  await inbox.put([...slow, message("4", "z")], "webhook");
  for (const claim of await inbox.claim(10, LEASE)) await inbox.bury(claim, "outage");
  const attached = attachInbox(file, clock);
  await attached.admin.retry({ state: "dead" });
  await attached.close();
  await inbox.put([message("5", "z")], "webhook");
  // Two of three lanes have no room. The claim therefore looks for more lanes, and finds what the retry has written.
  const rooms = { byType: new Map([["slow", 1]]), others: 10 };
  const claims = await inbox.claim(3, LEASE, rooms);
  expect(claims).toMatchObject([{ id: "1" }, { id: "5" }]);
  expect(await inbox.extend(claims, LEASE)).toHaveLength(2);
  for (const claim of claims) expect(await inbox.complete(claim)).toBe(true);
});

test("a rollback does not change when the next lane is ready", async () => {
  await inbox.put(messages("1"), "webhook");
  await inbox.claim(1, LEASE);
  await expect(inbox.put([REFUSED], "webhook")).rejects.toThrow();
  expect(await inbox.nextReadyIn()).toBe(LEASE);
});
