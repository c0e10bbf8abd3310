import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../../faces/inbox.ts";
import {
  type CopyReport,
  type CopySource,
  type CopyTarget,
  copyInbox,
  isDifferent,
  tables,
} from "../../faces/inbox-copy.ts";
import {
  attachPostgres,
  type OpenOptions,
  openPostgresSource,
  openPostgresTarget,
  PostgresInbox,
} from "../../faces/inbox-postgres.ts";
import {
  attachInbox,
  openFile,
  openSqliteSource,
  openSqliteTarget,
  SqliteInbox,
} from "../../faces/inbox-sqlite.ts";
import { ManualClock } from "../../faces/testing.ts";
import { first } from "../../support/first.ts";
import { message, messages } from "../../support/inbox-events.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../../support/postgres/open.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { fillInbox, ODD, rowsOf } from "./whole-inbox.ts";

const LEASE = 60_000;

/** The version of the schema, and what instances that run have among themselves; a new bot begins anew. */
const processTables = [
  ...["migration", "suspect", "instance", "leader", "note", "delivery", "circuit", "place"],
];

/** A term, and which event a run that has not ended is of: nothing is copied while there is one. */
const processColumns = ["cursor.term", "lane.claimed"];

let folder: string;
let file: string;
let place: Place;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, "bot.db");
  place = await emptyPlace();
});

async function carryOut(source: CopySource, target: CopyTarget): Promise<CopyReport> {
  try {
    return await copyInbox(source, target);
  } finally {
    await source.close();
    await target.close();
  }
}

const toPostgres = async (options: Partial<OpenOptions> = {}) =>
  carryOut(openSqliteSource(file), await openPostgresTarget({ ...place, ...options }));

const toFile = async (other: string) =>
  carryOut(await openPostgresSource(place), openSqliteTarget(other));

/** A target on which a copy has begun and never ended. */
async function leaveUnfinished(): Promise<void> {
  const target = await openPostgresTarget(place);
  await target.begin(`file:${file}`);
  await target.close();
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

  test("comes back from PostgreSQL as it was", async () => {
    await fillInbox(file);
    // Opening ends the runs that the last process left under way.
    await new SqliteInbox({ file }).close();
    const before = rowsOf(file);
    expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
    const report = await toPostgres();
    expect(report.tables.filter(isDifferent)).toEqual([]);
    expect(report.tables.map(({ name, rows }) => [name, rows])).toEqual(
      tables.map(({ name }) => [name, before[name]?.length]),
    );
    const other = join(folder, "again", "bot.db");
    const back = await toFile(other);
    expect(back.tables).toEqual(report.tables);
    expect(rowsOf(other)).toEqual(before);
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
    const lanes = [
      { key: "dm:a", fence: 1, done_ord: message("5").ord },
      { key: "dm:b", fence: 2, done_ord: message("8").ord },
    ];
    expect(rowsOf(file)["lane"]).toMatchObject(lanes);

    expect((await toPostgres()).tables.filter(isDifferent)).toEqual([]);
    const other = join(folder, "again.db");
    await toFile(other);
    expect(rowsOf(other)["lane"]).toMatchObject(lanes);
    const after = new SqliteInbox({ file: other });
    onTestFinished(() => after.close());
    await after.put([message("4", "a"), message("7", "b")], "webhook");
    expect(await after.claim(10, LEASE)).toMatchObject([
      { id: "4", fence: 2, late: true },
      { id: "7", fence: 3, late: true },
    ]);
  });

  test("keeps the waits and the ages of steps, where the database's clock is another one", async () => {
    await fillInbox(file);
    const ahead = { now: () => Date.now() + 7_200_000 };
    const { clockMovedMs } = await toPostgres(ahead);
    expect(clockMovedMs).toBeGreaterThan(7_190_000);
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

  test("goes on where it was: ids are known, lanes have their order, dead letters their history", async () => {
    await fillInbox(file);
    await toPostgres();
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
    // A new event gets a number behind those that were copied.
    expect(await inbox.put([message("new", "d")], "poll")).toMatchObject({ stored: ["new"] });
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
    const inbox = new SqliteInbox({ file });
    onTestFinished(() => inbox.close());
    expect(() => openSqliteSource(file)).toThrow(
      expect.objectContaining({
        code: "INBOX_IN_USE",
        message: expect.stringContaining("stop it"),
      }),
    );
    const made = await look(place, "SELECT 1 FROM pg_namespace WHERE nspname = $1", [place.schema]);
    expect(made).toEqual([]);
  });

  test("while a bot uses the database, or has left events under way; it can be used on", async () => {
    const inbox = await PostgresInbox.open(place);
    await inbox.put(messages("1", "2"), "webhook");
    const attached = await attachPostgres(place);
    while (!(await attached.served())) await setImmediate();
    const inUse = { code: "INBOX_IN_USE", message: expect.stringMatching(/[Ss]top/) };
    await expect(toFile(file)).rejects.toMatchObject(inUse);
    await inbox.claim(1, LEASE);
    await inbox.close();
    while (await attached.served()) await setImmediate();
    await attached.close();
    await expect(toFile(file)).rejects.toMatchObject(inUse);
    await look(place, `UPDATE ${place.schema}.lane SET ready_at = 1 WHERE owner IS NOT NULL`);
    await expect(toFile(file)).rejects.toMatchObject(inUse);
    // None of them has left a mark.
    const again = await PostgresInbox.open(place);
    // The run that was lost is counted by now, so a copy need not say which one it was.
    const claim = first(await again.claim(1, LEASE));
    expect(claim).toMatchObject({ attempt: 2, crashes: 1 });
    await again.complete(claim);
    await again.close();
    expect((await toFile(file)).tables.filter(isDifferent)).toEqual([]);
  });

  test("where there is something already, in PostgreSQL and in a file", async () => {
    await fillInbox(file);
    const inbox = await PostgresInbox.open(place);
    await inbox.put([], "poll", [{ name: "events", position: "1" }]);
    await inbox.close();
    const notEmpty = { code: "INBOX_NOT_EMPTY" };
    const resting = join(folder, "resting.db");
    const { db, close } = openFile(resting);
    db.exec("INSERT INTO resting_lane (key, fence, done_at) VALUES ('dm:a', 1, 0)");
    close();
    await expect(toPostgres()).rejects.toMatchObject({
      ...notEmpty,
      message: expect.stringMatching(/DATABASE_SCHEMA.*DROP SCHEMA "test_/),
    });
    await expect(toFile(file)).rejects.toMatchObject(notEmpty);
    await expect(toFile(resting)).rejects.toMatchObject(notEmpty);
    await new SqliteInbox({ file }).close();
    await (await PostgresInbox.open(place)).close();
  });

  test("where the unfinished copy of another inbox is", async () => {
    await leaveUnfinished();
    await fillInbox(file);
    const other = join(folder, "other.db");
    await new SqliteInbox({ file: other }).close();
    const target = await openPostgresTarget(place);
    await expect(carryOut(openSqliteSource(other), target)).rejects.toMatchObject({
      code: "INBOX_UNFINISHED",
      message: expect.stringContaining(file),
    });
    expect((await toPostgres()).tables.filter(isDifferent)).toEqual([]);
  });

  test("of an inbox that was copied already, until it is opened again", async () => {
    await fillInbox(file);
    await toPostgres();
    const moved = { code: "INBOX_MOVED", message: expect.stringContaining(place.schema) };
    await expect(toPostgres()).rejects.toMatchObject(moved);
    const source = openSqliteSource(file);
    expect(await source.reopen()).toBe(true);
    expect(await source.reopen()).toBe(false);
    await source.close();
    place = await emptyPlace();
    await toPostgres();
  });
});

describe("no bot starts", () => {
  test("on half a copy, nor can anybody decide about its events", async () => {
    await leaveUnfinished();
    const unfinished = { code: "INBOX_UNFINISHED", message: expect.stringContaining("inbox copy") };
    await expect(PostgresInbox.open(place)).rejects.toMatchObject(unfinished);
    await expect(attachPostgres(place)).rejects.toMatchObject(unfinished);
    const target = openSqliteTarget(file);
    await target.begin("postgres://db/bot (schema s)");
    await target.close();
    const ofFile = expect.objectContaining({ code: "INBOX_UNFINISHED" });
    expect(() => new SqliteInbox({ file })).toThrow(ofFile);
    expect(() => attachInbox(file)).toThrow(ofFile);
  });

  test("on what was copied, which can still be looked at", async () => {
    await fillInbox(file);
    await toPostgres();
    expect(() => new SqliteInbox({ file })).toThrow(
      expect.objectContaining({ code: "INBOX_MOVED" }),
    );
    const attached = attachInbox(file);
    expect(await attached.admin.stats()).toMatchObject({ done: 1 });
    await attached.close();
    await toFile(join(folder, "back.db"));
    await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_MOVED" });
    const source = await openPostgresSource(place);
    expect(await source.reopen()).toBe(true);
    await source.close();
    await (await PostgresInbox.open(place)).close();
  });

  test("on a copy that is not what was read; the old place can be used on", async () => {
    await fillInbox(file);
    await (await PostgresInbox.open(place)).close();
    await look(
      place,
      `CREATE FUNCTION ${place.schema}.spoil() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.body := replace(NEW.body, 'dead', 'daed'); RETURN NEW; END $$;
       CREATE TRIGGER spoil BEFORE INSERT ON ${place.schema}.event
         FOR EACH ROW EXECUTE FUNCTION ${place.schema}.spoil()`,
    );
    const report = await toPostgres();
    expect(report.tables.filter(isDifferent).map(({ name }) => name)).toEqual(["event"]);
    await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    await new SqliteInbox({ file }).close();
    await look(place, `DROP TRIGGER spoil ON ${place.schema}.event`);
    expect((await toPostgres()).tables.filter(isDifferent)).toEqual([]);
  });

  test("on the target of a copy that fails; a database that was copied can be used on", async () => {
    await (await PostgresInbox.open(place)).close();
    const target = openSqliteTarget(file);
    const failing: CopyTarget = {
      ...target,
      read: () => {
        throw new Error("the disk is gone");
      },
    };
    await expect(carryOut(await openPostgresSource(place), failing)).rejects.toThrow("is gone");
    expect(() => new SqliteInbox({ file })).toThrow(
      expect.objectContaining({ code: "INBOX_UNFINISHED" }),
    );
    await (await PostgresInbox.open(place)).close();
  });

  test("on either, when the copy ends between its last two steps; another run ends it", async () => {
    await fillInbox(file);
    const target = await openPostgresTarget(place);
    const cut = { ...target, finish: () => Promise.reject(new Error("the process is gone")) };
    await expect(carryOut(openSqliteSource(file), cut)).rejects.toThrow("is gone");
    expect(() => new SqliteInbox({ file })).toThrow(
      expect.objectContaining({ code: "INBOX_MOVED" }),
    );
    await expect(PostgresInbox.open(place)).rejects.toMatchObject({ code: "INBOX_UNFINISHED" });
    await toPostgres();
    await (await PostgresInbox.open(place)).close();
  });
});

test("of two runs into one place the first gives way, and nothing of it stays", async () => {
  const targets = [await openPostgresTarget(place), await openPostgresTarget(place)];
  onTestFinished(async () => void (await Promise.all(targets.map((target) => target.close()))));
  const [cursor] = tables.filter(({ name }) => name === "cursor");
  const [one, two] = targets;
  if (cursor === undefined || one === undefined || two === undefined)
    throw new Error("unreachable");
  await one.begin("file:/a");
  await one.write(cursor, [["one", "1"]]);
  await two.begin("file:/a");
  await two.write(cursor, [["two", "2"]]);
  const overtaken = { code: "INBOX_UNFINISHED", message: expect.stringContaining("given way") };
  await expect(one.write(cursor, [["three", "3"]])).rejects.toMatchObject(overtaken);
  await expect(one.finish()).rejects.toMatchObject(overtaken);
  await two.finish();
  const inbox = await openAt(place);
  expect(await inbox.cursor("one")).toBeUndefined();
  expect(await inbox.cursor("two")).toBe("2");
  expect(await inbox.cursor("three")).toBeUndefined();
});
