import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { tables } from "../../faces/inbox-copy.ts";
import { CopySource, openFile } from "../../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Columns that only running processes use: a term, and the end of a lease. Copying is refused during a run. */
const PROCESS_COLUMNS = ["cursor.term", "event.leased_until", "event.begun_at"];

/** Columns of a lane in PostgreSQL that a file computes. */
const COMPUTED = ["lane.pending", "lane.owner", "lane.fence"];

test("what is copied is every column of every table in a file that does not belong to its process", () => {
  const { db, close } = openFile(join(temporaryFolder(), "bot.db"));
  onTestFinished(close);
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  // A copy puts resting lanes into the lane table.
  expect(names.sort()).toEqual([...tables.map(({ name }) => name), "resting_lane"].sort());
  for (const table of tables) {
    const columns = db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table.name);
    const left = columns.filter((name) => !PROCESS_COLUMNS.includes(`${table.name}.${name}`));
    const copied = table.columns.map(({ name }) => name);
    expect(left).toEqual(copied.filter((name) => !COMPUTED.includes(`${table.name}.${name}`)));
  }
});

test("a file of another program is refused as a source", () => {
  const file = join(temporaryFolder(), "bot.db");
  const db = new Sqlite(file);
  db.exec("CREATE TABLE t (x)");
  db.close();
  expect(() => new CopySource(file)).toThrow(expect.objectContaining({ code: "INBOX_UNUSABLE" }));
});
