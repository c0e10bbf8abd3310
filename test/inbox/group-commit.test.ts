import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { GroupCommit } from "../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let statements: string[];
let db: Sqlite.Database;
let group: GroupCommit;

beforeEach(() => {
  statements = [];
  db = new Sqlite(":memory:", { verbose: (sql) => statements.push(String(sql)) });
  db.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
  statements.length = 0;
  group = new GroupCommit(db);
});

const insert = (n: number) => () => db.prepare(`INSERT INTO t VALUES (${n})`).run().changes;
const rows = () => db.prepare("SELECT n FROM t ORDER BY n").pluck().all();
const count = (sql: string) => statements.filter((statement) => statement === sql).length;

test("writes in one turn of the event loop share one transaction", async () => {
  await Promise.all([1, 2, 3].map((n) => group.write(insert(n))));
  expect(count("COMMIT")).toBe(1);
  expect(rows()).toEqual([1, 2, 3]);
});

test("writes in the next turn have their own transaction", async () => {
  await group.write(insert(1));
  await group.write(insert(2));
  expect(count("COMMIT")).toBe(2);
});

test("nothing is answered before it is committed", async () => {
  const writing = group.write(insert(1));
  let committedWhenAnswered = 0;
  const answered = writing.then(() => {
    committedWhenAnswered = count("COMMIT");
  });
  expect(count("COMMIT")).toBe(0);
  await answered;
  expect(committedWhenAnswered).toBe(1);
});

test("a write that fails is refused alone, and leaves nothing behind", async () => {
  const results = await Promise.allSettled([
    group.write(insert(1)),
    group.write(() => {
      insert(2)();
      throw new Error("no");
    }),
    group.write(insert(3)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
  expect(rows()).toEqual([1, 3]);
  expect(db.inTransaction).toBe(false);
});

test("a failed commit is reported to its callers, and none of them sees success", async () => {
  db.pragma("foreign_keys = ON");
  db.exec("CREATE TABLE child (n REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)");
  const orphan = () => db.prepare("INSERT INTO child VALUES (99)").run().changes;
  const results = await Promise.allSettled([group.write(insert(1)), group.write(orphan)]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(rows()).toEqual([1]);
  expect(db.prepare("SELECT n FROM child").all()).toEqual([]);
});

test("a full disk refuses the write, and the next one goes through once there is room", async () => {
  const pages = Number(db.pragma("page_count", { simple: true }));
  db.exec("CREATE TABLE big (x BLOB)");
  db.pragma(`max_page_count = ${pages + 2}`);
  const fill = () => db.prepare("INSERT INTO big VALUES (zeroblob(100000))").run().changes;
  await expect(group.write(fill)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    cause: { code: "SQLITE_FULL" },
  });
  db.pragma("max_page_count = 1000000");
  expect(await group.write(fill)).toBe(1);
});

test("close() commits the pending writes and refuses later ones", async () => {
  const waiting = group.write(insert(1));
  await group.close();
  expect(rows()).toEqual([1]);
  expect(await waiting).toBe(1);
  await expect(group.write(insert(2))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(rows()).toEqual([1]);
});

test("a locked file refuses the whole group at once, not one write after the other", async () => {
  const file = join(temporaryFolder(), "locked.db");
  const mine = new Sqlite(file, { timeout: 100 });
  mine.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
  const other = new Sqlite(file);
  onTestFinished(() => {
    mine.close();
    other.close();
  });
  other.exec("BEGIN IMMEDIATE");
  const begun = { times: 0 };
  const exec = mine.exec.bind(mine);
  mine.exec = (sql) => {
    if (sql.startsWith("BEGIN")) begun.times += 1;
    return exec(sql);
  };
  const locked = new GroupCommit(mine);
  const write = () => mine.prepare("INSERT INTO t DEFAULT VALUES").run();
  const results = await Promise.allSettled([1, 2, 3].map(() => locked.write(write)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(begun.times).toBe(1);
  other.exec("ROLLBACK");
  await locked.write(write);
});

describe("with a disk", () => {
  let syncs: PromiseWithResolvers<void>[];

  beforeEach(() => {
    syncs = [];
    const sync = () => {
      const started = Promise.withResolvers<void>();
      syncs.push(started);
      return started.promise;
    };
    group = new GroupCommit(db, { disk: { sync, check: () => undefined } });
  });

  /** Returns the promises' states once those that can settle have settled. */
  async function statesOf(...writes: Promise<unknown>[]): Promise<string[]> {
    await setImmediate();
    const states = writes.map((write) => {
      return Promise.race([write, Promise.resolve("waits")]).then(
        (value) => (value === "waits" ? "waits" : "done"),
        () => "failed",
      );
    });
    return await Promise.all(states);
  }

  test("a write waits for a sync that begins after its commit", async () => {
    const one = group.write(insert(1));
    await vi.waitUntil(() => syncs.length === 1);
    const two = group.write(insert(2));
    expect(await statesOf(one, two)).toEqual(["waits", "waits"]);
    syncs[0]?.resolve();
    await one;
    expect(await statesOf(two)).toEqual(["waits"]);
    await vi.waitUntil(() => syncs.length === 2);
    syncs[1]?.resolve();
    await two;
    expect(count("COMMIT")).toBe(2);
  });

  test("a write that may be lost waits for no sync", async () => {
    const one = group.write(insert(1));
    await vi.waitUntil(() => syncs.length === 1);
    await group.write(insert(2), { mayBeLost: true });
    expect(await statesOf(one)).toEqual(["waits"]);
    syncs[0]?.resolve();
    await one;
    expect(group.hasUnsynced).toBe(true);
    expect(syncs).toHaveLength(1);
  });

  test("a failed sync fails the writes that waited for it, and no others", async () => {
    const one = group.write(insert(1));
    await vi.waitUntil(() => syncs.length === 1);
    const two = group.write(insert(2));
    syncs[0]?.reject(Object.assign(new Error("no"), { code: "EIO" }));
    await expect(one).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause: { code: "EIO" },
    });
    expect(group.hasUnsynced).toBe(true);
    await vi.waitUntil(() => syncs.length === 2);
    syncs[1]?.resolve();
    await two;
    expect(group.hasUnsynced).toBe(false);
    expect(rows()).toEqual([1, 2]);
  });

  test("close() waits for a running sync", async () => {
    const waiting = group.write(insert(1));
    const closed = group.close();
    expect(await statesOf(closed)).toEqual(["waits"]);
    syncs[0]?.resolve();
    await closed;
    expect(await waiting).toBe(1);
  });
});
