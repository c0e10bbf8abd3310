import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { copyInbox } from "../../faces/cli.ts";
import type { NewEvent } from "../../faces/inbox.ts";
import { tables } from "../../faces/inbox-copy.ts";
import {
  attachPostgres,
  CopyTarget,
  type OpenOptions,
  openDatabase,
  PostgresInbox,
} from "../../faces/inbox-postgres.ts";
import { attachInbox, CopySource, openFile, SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message } from "../../support/inbox-events.ts";
import { listening } from "../../support/postgres/listening.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../../support/postgres/open.ts";
import { openSqlite } from "../../support/sqlite.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { fillInbox, ODD, rowsOf } from "./whole-inbox.ts";

const LEASE = 60_000;

/** Tables that are not copied: the schema version, and state that running instances share. */
const processTables = [
  ...["migration", "suspect", "instance", "leader", "note", "delivery", "circuit", "place"],
];

/**
 * Columns that only running processes use: a term, and the event of an unfinished run. Copying is refused during a run.
 */
const processColumns = ["cursor.term", "lane.claimed", "lane.begun_at"];

let folder: string;
let file: string;
let place: Place;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, "bot.db");
  place = await emptyPlace();
});

/** Resolves to the shift of all times, in ms. */
async function copy(options: Partial<OpenOptions> = {}, from = file): Promise<number> {
  const source = new CopySource(from);
  const target = await CopyTarget.open({ ...place, ...options });
  try {
    return await copyInbox(source, target);
  } finally {
    source.close();
    await target.close();
  }
}

async function copyThatFails(method: "write" | "finish"): Promise<void> {
  const target = await CopyTarget.open(place);
  target[method] = () => Promise.reject(new Error("the process is gone"));
  const source = new CopySource(file);
  await expect(copyInbox(source, target)).rejects.toThrow("is gone");
  source.close();
  await target.close();
}

async function leaveUnfinished(): Promise<void> {
  const target = await CopyTarget.open(place);
  const source = new CopySource(file);
  await target.begin(source.place);
  source.close();
  await target.close();
}

async function copiedRows(): Promise<Record<string, unknown[]>> {
  const database = await openDatabase(place);
  onTestFinished(() => database.close());
  const rows = tables.map(async ({ name, columns }) => {
    const list = columns.map((column) => column.name).join(", ");
    return [name, await database.rows(`SELECT ${list} FROM {schema}.${name}`)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** Columns that a file does not have, because its process keeps them in memory. */
const computedColumns = ["lane.pending", "lane.owner", "lane.fence"];

/** Marks of a file, which are not positions of the bot. */
const fileMarks = ["fence", "lanes"];

/** Sorts rows the same way for both stores, and drops the rows and columns that only one of them has. */
function sorted(rows: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown[]> {
  const entries = tables.map(({ name, columns }) => {
    const both = columns.filter((column) => !computedColumns.includes(`${name}.${column.name}`));
    const texts = rows[name]?.flatMap((row) => {
      const cells: Readonly<Record<string, unknown>> = Object(row);
      if (name === "cursor" && fileMarks.includes(String(cells["name"]))) return [];
      return [JSON.stringify(both.map((column) => cells[column.name]))];
    });
    return [name, texts?.sort() ?? []] as const;
  });
  return Object.fromEntries(entries);
}

describe("what is copied", () => {
  test("is every column of every table in PostgreSQL that does not belong to its processes", async () => {
    await openAt(place);
    const columns = await look<{ name: string; column: string }>(
      place,
      `SELECT table_name AS name, column_name AS column FROM information_schema.columns
       WHERE table_schema = $1 ORDER BY table_name, ordinal_position`,
      [place.schema],
    );
    const left = columns.filter(
      ({ name, column }) =>
        !tables.some((one) => one.name === name && one.columns.some((c) => c.name === column)),
    );
    const tablesLeft = left.filter(({ name }) => !tables.some((one) => one.name === name));
    expect(processTables).toEqual(
      expect.arrayContaining([...new Set(tablesLeft.map(({ name }) => name))]),
    );
    const columnsLeft = left.filter(({ name }) => tables.some((one) => one.name === name));
    expect(processColumns).toEqual(
      expect.arrayContaining(columnsLeft.map(({ name, column }) => `${name}.${column}`)),
    );
  });

  test("is in PostgreSQL as it was in the file", async () => {
    await fillInbox(file);
    // Opening the inbox ends the previous process's unfinished runs.
    await new SqliteInbox({ file }).close();
    const before = rowsOf(file);
    expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
    expect(await copy()).toBe(0);
    expect(sorted(await copiedRows())).toEqual(sorted(before));
  });

  test("has a count of each lane's pending events, and a fence after every fence of the file", async () => {
    await fillInbox(file);
    await new SqliteInbox({ file }).close();
    await copy();
    const lanes = await look(
      place,
      `SELECT key FROM ${place.schema}.lane WHERE owner IS NOT NULL
         OR pending <> (SELECT count(*) FROM ${place.schema}.event WHERE event.lane = key AND state = 'pending')
         OR fence <= (SELECT max(fence) FROM ${place.schema}.event)`,
    );
    expect(lanes).toEqual([]);
  });

  test("has the lanes that rest, each once, and knows what was done in them", async () => {
    const clock = new ManualClock(Date.now());
    const before = new SqliteInbox({ file, clock });
    const handle = async (...events: NewEvent[]) => {
      await before.put(events, "webhook");
      for (const claim of await before.claim(10, LEASE)) await before.complete(claim);
    };
    await handle(message("5", "a"), message("6", "b"));
    await clock.advance(3_600_000);
    while (await before.sweep({ bodiesMs: 1e15, idsMs: 1e15, deadLettersMs: 1e15 }));
    await handle(message("8", "b"));
    await before.close();
    const { db, close } = openFile(file);
    expect(db.prepare("SELECT key FROM lane").pluck().all()).toEqual(["dm:b"]);
    expect(db.prepare("SELECT key FROM resting_lane").pluck().all()).toEqual(["dm:a", "dm:b"]);
    close();

    await copy();
    const { lane } = await copiedRows();
    expect(lane).toHaveLength(2);
    expect(lane).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: "dm:a", done_ord: message("5").ord }),
        expect.objectContaining({ key: "dm:b", done_ord: message("8").ord }),
      ]),
    );
    const after = await openAt(place);
    await after.put([message("4", "a"), message("7", "b")], "webhook");
    const claims = await after.claim(10, LEASE);
    expect(claims.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { id: "4", late: true },
      { id: "7", late: true },
    ]);
  });

  test("keeps the waits and the ages of steps, where the database's clock is another one", async () => {
    await fillInbox(file);
    const ahead = { now: () => Date.now() + 7_200_000 };
    expect(await copy(ahead)).toBeGreaterThan(7_190_000);
    const inbox = await openAt(place, ahead);
    const claims = await inbox.claim(10, LEASE);
    expect(claims.map(({ id }) => id).sort()).toEqual(["crashed", "odd"]);
    const step = await inbox.beginStep(
      first(claims.filter(({ id }) => id === "crashed")),
      "step/reply",
      "",
    );
    expect(step).toMatchObject({ state: "open", request: "hello" });
    expect(step?.state === "open" && step.ageMs).toBeLessThan(60_000);
    const [lane] = await look<{ ready_at: string }>(
      place,
      `SELECT ready_at FROM ${place.schema}.lane WHERE key = 'dm:d'`,
    );
    const wait = Number(lane?.ready_at) - ahead.now();
    expect(wait).toBeGreaterThan(3_540_000);
    expect(wait).toBeLessThanOrEqual(3_600_000);
  });

  test("continues where it was: ids are stored, lanes have their order, dead letters their history", async () => {
    await fillInbox(file);
    await copy();
    const inbox = await openAt(place);
    expect(await inbox.cursor("events")).toBe("evt_0777");
    expect(await inbox.webhookTypes()).toEqual(new Set(["dm.message"]));
    const again = ["done", "dead", "discarded", "waits", "crashed", "bad"].map((id) => message(id));
    expect(await inbox.put(again, "webhook")).toMatchObject({ stored: [], duplicates: 6 });
    expect(await inbox.admin.show("dead")).toMatchObject({
      state: "dead",
      history: [{ outcome: "dead", error: "TypeError: boom" }],
      steps: [{ name: "step/pay", state: "open" }],
    });
    const odd = await inbox.admin.show("odd");
    expect(odd).toMatchObject({ lane: `own:${ODD}`, history: [{ error: `error ${ODD}` }] });
    expect(await inbox.claimedRefs(["m_1", "m_2"])).toEqual(new Set(["m_1"]));
    await inbox.admin.discard("waits", "not needed");
    // A new event must get a higher number than the copied events.
    expect(await inbox.put([message("new", "d")], "poll")).toMatchObject({ stored: ["new"] });
    const newest = `SELECT id FROM ${place.schema}.event ORDER BY seq DESC LIMIT 1`;
    expect(await look(place, newest)).toEqual([{ id: "new" }]);
    const lane: string[] = [];
    for (;;) {
      const claim = (await inbox.claim(10, LEASE)).find((one) => one.lane === "dm:d");
      if (claim === undefined) break;
      lane.push(claim.id);
      await inbox.complete(claim);
    }
    expect(lane).toEqual(["new", "waits-behind"]);
  });
});

describe("a copy is refused", () => {
  test("while a bot has the file, before anything is made", { timeout: 30_000 }, async () => {
    openSqlite({ file });
    await expect(copy()).rejects.toMatchObject({
      code: "INBOX_IN_USE",
      message: expect.stringContaining("Stop it"),
    });
    const made = await look(place, "SELECT 1 FROM pg_namespace WHERE nspname = $1", [place.schema]);
    expect(made).toEqual([]);
  });

  test("where there is something already, which can be used on", async () => {
    await fillInbox(file);
    const inbox = await PostgresInbox.open(place);
    await inbox.put([], "poll", [{ name: "events", position: "1" }]);
    await inbox.close();
    const before = rowsOf(file);
    await expect(copy()).rejects.toMatchObject({
      code: "INBOX_NOT_EMPTY",
      message: expect.stringMatching(/DATABASE_SCHEMA.*DROP SCHEMA "test_/),
    });
    expect(rowsOf(file)).toEqual(before);
    await new SqliteInbox({ file }).close();
    await (await PostgresInbox.open(place)).close();
  });

  test("where a bot runs, which goes on, and so does the one of the file", async () => {
    await fillInbox(file);
    await openAt(place);
    await listening(place, 1);
    const before = rowsOf(file);
    await expect(copy()).rejects.toMatchObject({ code: "INBOX_IN_USE" });
    expect(rowsOf(file)).toEqual(before);
  });

  test.each([
    ["INBOX_TOO_OLD", "DELETE FROM {schema}.migration WHERE version > 2"],
    ["INBOX_TOO_NEW", "INSERT INTO {schema}.migration (version, readable_from) VALUES (99, 99)"],
  ])(
    "with %s where another version is, and nothing is changed on either side",
    async (code, sql) => {
      await fillInbox(file);
      await (await PostgresInbox.open(place)).close();
      await look(place, sql.replace("{schema}", place.schema));
      const version = `SELECT max(version) FROM ${place.schema}.migration`;
      const before = [rowsOf(file), await look(place, version)];
      await expect(copy()).rejects.toMatchObject({ code });
      expect([rowsOf(file), await look(place, version)]).toEqual(before);
    },
  );

  test("not where its own unfinished copy is, of an earlier version too", async () => {
    await fillInbox(file);
    await leaveUnfinished();
    await look(place, `DELETE FROM ${place.schema}.migration WHERE version > 2`);
    await look(place, `ALTER TABLE ${place.schema}.event DROP COLUMN trace`);
    await look(place, `ALTER TABLE ${place.schema}.lane DROP COLUMN begun_at`);
    await look(place, `ALTER TABLE ${place.schema}.instance DROP COLUMN session`);
    await look(place, `DROP TABLE ${place.schema}.state, ${place.schema}.timer`);
    await copy();
    await (await PostgresInbox.open(place)).close();
  });

  test("where the unfinished copy of another inbox is", async () => {
    await fillInbox(file);
    await leaveUnfinished();
    const other = join(folder, "other.db");
    await new SqliteInbox({ file: other }).close();
    await expect(copy({}, other)).rejects.toMatchObject({
      code: "INBOX_UNFINISHED",
      message: expect.stringContaining(file),
    });
    await copy();
  });

  test("of an inbox that was copied already, until it is opened again", async () => {
    await fillInbox(file);
    await copy();
    const moved = { code: "INBOX_MOVED", message: expect.stringContaining(place.schema) };
    await expect(copy()).rejects.toMatchObject(moved);
    const source = new CopySource(file);
    expect(source.reopen()).toBe(true);
    expect(source.reopen()).toBe(false);
    source.close();
    place = await emptyPlace();
    await copy();
  });
});

describe("no bot starts", () => {
  test("on half a copy, nor can anybody decide about its events; another run begins anew", async () => {
    await fillInbox(file);
    await copyThatFails("write");
    const unfinished = { code: "INBOX_UNFINISHED", message: expect.stringContaining("inbox copy") };
    await expect(PostgresInbox.open(place)).rejects.toMatchObject(unfinished);
    await expect(attachPostgres(place)).rejects.toMatchObject(unfinished);
    // The source is still usable.
    await new SqliteInbox({ file }).close();
    await copy();
    await (await PostgresInbox.open(place)).close();
  });

  test("on what was copied, which can still be looked at", async () => {
    await fillInbox(file);
    await copy();
    expect(() => new SqliteInbox({ file })).toThrow(
      expect.objectContaining({ code: "INBOX_MOVED" }),
    );
    const attached = attachInbox(file);
    expect(await attached.admin.stats()).toMatchObject({ done: 1 });
    await attached.close();
  });

  test("on a file that an earlier version has copied to, and not to the end", async () => {
    const { db, close } = openFile(file);
    db.exec(
      "CREATE TABLE copy_mark AS SELECT 'target' AS role, 'postgres://db' AS other, '1' AS run",
    );
    close();
    const unfinished = expect.objectContaining({ code: "INBOX_UNFINISHED" });
    expect(() => new SqliteInbox({ file })).toThrow(unfinished);
    expect(() => attachInbox(file)).toThrow(unfinished);
    const source = new CopySource(file);
    expect(source.reopen()).toBe(false);
    source.close();
  });

  test("on a copy that has other rows than the source; the old place can be used on", async () => {
    await fillInbox(file);
    await (await PostgresInbox.open(place)).close();
    await look(
      place,
      `CREATE FUNCTION ${place.schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN DELETE FROM ${place.schema}.attempt; RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON ${place.schema}.cursor
         FOR EACH ROW EXECUTE FUNCTION ${place.schema}.spoil()`,
    );
    await expect(copy()).rejects.toMatchObject({
      code: "INBOX_DIFFERS",
      message: expect.stringContaining("attempt"),
    });
    await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    await new SqliteInbox({ file }).close();
    await look(place, `DROP TRIGGER spoil ON ${place.schema}.cursor`);
    await copy();
  });

  test("on either, when the copy ends between its last two steps; another run ends it", async () => {
    await fillInbox(file);
    await copyThatFails("finish");
    expect(() => new SqliteInbox({ file })).toThrow(
      expect.objectContaining({ code: "INBOX_MOVED" }),
    );
    await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    await copy();
    await (await PostgresInbox.open(place)).close();
  });
});

test("of two runs into one place the first, whose rows the second has removed, opens it to no bot", async () => {
  await fillInbox(file);
  const [one, two] = [await CopyTarget.open(place), await CopyTarget.open(place)];
  onTestFinished(async () => {
    await one.close();
    await two.close();
  });
  const from = `file:${file}`;
  await one.begin(from);
  await two.begin(from);
  const unfinished = { code: "INBOX_UNFINISHED" };
  await expect(one.finish()).rejects.toMatchObject(unfinished);
  await expect(PostgresInbox.open(place)).rejects.toMatchObject(unfinished);
  await two.finish();
  await (await PostgresInbox.open(place)).close();
  await expect(one.finish()).rejects.toMatchObject(unfinished);
});

test("of two runs from one file the second is refused", async () => {
  await fillInbox(file);
  const source = new CopySource(file);
  onTestFinished(() => source.close());
  expect(() => new CopySource(file)).toThrow(expect.objectContaining({ code: "INBOX_IN_USE" }));
});
