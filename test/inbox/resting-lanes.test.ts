import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { NewEvent, Retention } from "../faces/inbox.ts";
import { attachInbox, type SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { copyAsKilled } from "../support/killed-copy.ts";
import { lookInto, openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const LEASE = 30_000;
const KEEP: Retention = { bodiesMs: 7 * DAY, idsMs: 30 * DAY, deadLettersMs: 90 * DAY };

interface RestingRow {
  readonly key: string;
  readonly done_ord: string | null;
  readonly done_at: number;
}

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

const atWork = (path = file) =>
  lookInto(path, (db) => db.prepare<[], string>("SELECT key FROM lane ORDER BY key").pluck().all());

const resting = (path = file) =>
  lookInto(path, (db) =>
    db.prepare<[], RestingRow>("SELECT * FROM resting_lane ORDER BY key").all(),
  );

/** Writes the rows of all lanes, which would otherwise be written later. */
const writeLanes = () => inbox.heal();

/** Returns a copy of the file, as a process killed at this point would leave it. */
const killed = (name: string) => copyAsKilled(file, join(folder, name));

async function handle(...events: readonly NewEvent[]): Promise<void> {
  await inbox.put(events, "webhook");
  for (const claim of await inbox.claim(1_000, LEASE)) await inbox.complete(claim);
}

async function sweep(keep = KEEP): Promise<void> {
  while (await inbox.sweep(keep));
}

async function pause(): Promise<void> {
  await clock.advance(10 * MINUTE + 1);
  await sweep();
  expect(atWork()).toEqual([]);
}

describe("a lane in which nothing happens", () => {
  test("comes to rest after ten minutes, and one that has something to do does not", async () => {
    await inbox.put([message("1", "waits"), message("2", "leased")], "webhook");
    for (const claim of await inbox.claim(2, 60 * MINUTE)) {
      if (claim.lane === "dm:waits") await inbox.retry(claim, 60 * MINUTE, "boom");
    }
    await handle(message("3", "idle"));
    await clock.advance(9 * MINUTE);
    await handle(message("4", "of late"));
    await inbox.put([message("5", "pending")], "webhook");
    await inbox.nextReadyIn();
    await clock.advance(MINUTE + 1);
    await sweep();
    expect(atWork()).toEqual(["dm:of late", "dm:pending", "dm:waits"]);
    expect(resting().map(({ key }) => key)).toEqual(["dm:idle"]);
    await clock.advance(9 * MINUTE);
    await sweep();
    expect(resting().map(({ key }) => key)).toEqual(["dm:idle", "dm:of late"]);
  });

  test("is as it was when it wakes, and leaves what is written of it at rest alone", async () => {
    await handle(message("5"));
    await pause();
    const rested = resting();
    expect(rested).toMatchObject([{ key: "dm:c1", done_ord: message("5").ord }]);
    await handle(message("3"));
    await inbox.put([message("4")], "webhook");
    expect(await inbox.claim(1, LEASE)).toMatchObject([{ id: "4", late: true }]);
    expect(resting()).toEqual(rested);
  });

  test("rests with the smaller id that took over, and has it after a crash, too", async () => {
    await handle(message("evt_1000"));
    await pause();
    await clock.advance(24 * 60 * MINUTE);
    await handle(message("evt_5"));
    const left = killed("left.db");
    await pause();
    expect(resting()).toMatchObject([{ done_ord: message("evt_5").ord }]);
    for (const one of [inbox, open(left)]) {
      await one.put([message("evt_6")], "webhook");
      expect(await one.claim(1, LEASE)).toMatchObject([{ id: "evt_6", late: false }]);
    }
  });

  test("rests again as it was last", async () => {
    await handle(message("5"));
    await pause();
    await handle(message("8"));
    await pause();
    const { ord } = message("8");
    expect(resting()).toMatchObject([{ done_ord: ord, done_at: clock.now() - 600_001 }]);
    await inbox.put([message("7"), message("9", "other")], "webhook");
    expect(await inbox.claim(2, LEASE)).toMatchObject([
      { id: "7", late: true },
      { id: "9", late: false },
    ]);
  });

  test("stays at work while an event of it waits that no claim has found yet", async () => {
    await handle(message("5"));
    await inbox.put([message("4")], "webhook");
    await clock.advance(10 * MINUTE + 1);
    await sweep();
    expect(atWork()).toEqual(["dm:c1"]);
    expect(await inbox.admin.show("4")).toMatchObject({ leased: false, attempts: 0 });
    expect(await inbox.nextReadyIn()).toBe(0);
    expect(await inbox.claim(1, LEASE)).toMatchObject([{ id: "4", late: true }]);
  });

  test("is forgotten with the ids, also where they are kept for a short time, or none of its events ended", async () => {
    await handle(message("1"));
    await inbox.put([message("2", "emptied")], "webhook");
    await writeLanes();
    lookInto(file, (db) => db.exec("DELETE FROM event WHERE id = '2'"));
    expect(await inbox.claim(1, LEASE)).toEqual([]);
    await clock.advance(59_999);
    const keep = { ...KEEP, idsMs: MINUTE };
    await sweep(keep);
    expect(resting()).toMatchObject([{ key: "dm:emptied", done_at: clock.now() }]);
    expect(atWork()).toEqual(["dm:c1"]);
    await clock.advance(2);
    await sweep(keep);
    expect([...atWork(), ...resting().map(({ key }) => key)]).toEqual(["dm:emptied"]);
    await clock.advance(MINUTE);
    await sweep(keep);
    expect(resting()).toEqual([]);
  });
});

describe("a lane at rest goes on where it was", () => {
  const next = { late: true };

  /** Leaves a done event, an earlier dead letter, and a lane that rests. */
  beforeEach(async () => {
    await handle(message("5"));
    await inbox.put([message("3")], "webhook");
    await inbox.bury(first(await inbox.claim(1, LEASE)), "boom");
    await pause();
  });

  test("when the process is killed before a claim", async () => {
    await inbox.put([message("4")], "webhook");
    const left = killed("left.db");
    expect(atWork(left)).toEqual([]);
    expect(await open(left).claim(1, LEASE)).toMatchObject([{ id: "4", ...next }]);
  });

  test("when the process is killed after a claim", async () => {
    await inbox.put([message("4")], "webhook");
    expect(await inbox.claim(1, LEASE)).toMatchObject([{ id: "4", ...next }]);
    const again = { id: "4", attempt: 2, late: true };
    expect(await open(killed("left.db")).claim(1, LEASE)).toMatchObject([again]);
  });

  test("when it is healed", async () => {
    await inbox.put([message("4")], "webhook");
    await writeLanes();
    lookInto(file, (db) => db.exec("DELETE FROM lane"));
    expect(await inbox.heal()).toBe(1);
    expect(await inbox.claim(1, LEASE)).toMatchObject([{ id: "4", ...next }]);
  });

  test("when a dead letter of it is retried", async () => {
    const attached = attachInbox(file, clock);
    await attached.admin.retry("3");
    await attached.close();
    expect(await inbox.claim(1, LEASE)).toMatchObject([{ id: "3", ...next }]);
  });
});

test("lanes come to rest a hundred at a time, and a kill in between loses none of them", async () => {
  const lanes = Array.from({ length: 250 }, (_, nth) => `lane ${nth}`);
  await handle(...lanes.map((lane, nth) => message(`${nth + 1_000}`, lane)));
  await writeLanes();
  await clock.advance(10 * MINUTE + 1);
  const left = [atWork().length];
  const files: string[] = [];
  for (let more = true; more; ) {
    more = await inbox.sweep(KEEP);
    left.push(atWork().length);
    files.push(killed(`left-${files.length}.db`));
  }
  expect([...new Set(left)]).toEqual([250, 150, 50, 0]);
  for (const path of files) {
    expect(new Set([...atWork(path), ...resting(path).map(({ key }) => key)]).size).toBe(250);
    const bot = open(path);
    const late = lanes.map((lane, nth) => message(`${nth}`, lane));
    await bot.put(late, "webhook");
    const claims = await bot.claim(250, LEASE);
    expect(claims.filter(({ late }) => late)).toHaveLength(250);
  }
});
