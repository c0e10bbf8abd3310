import Sqlite, { type Database } from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { replaceRows } from "../../faces/platform.ts";

/** A database of its own with tables of several kinds, that refer to one another in a circle. */
function database(rows: string): Database {
  const db = new Sqlite(":memory:");
  onTestFinished(() => void db.close());
  db.exec(`
    CREATE TABLE parent (id INTEGER PRIMARY KEY, "last one" INTEGER REFERENCES child (id)) STRICT;
    CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parent (id)) STRICT;
    CREATE TABLE word (text TEXT PRIMARY KEY, size INTEGER AS (length(text)), data BLOB) WITHOUT ROWID;
    CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, real REAL);
    PRAGMA foreign_keys = OFF;
    ${rows}
    PRAGMA foreign_keys = ON;`);
  return db;
}

const one = "INSERT INTO parent VALUES (1, 9); INSERT INTO child VALUES (9, 1);";
const other = `
  INSERT INTO parent VALUES (9007199254740993, 5); INSERT INTO child VALUES (5, 9007199254740993);
  INSERT INTO word VALUES ('it''s', x'00ff'), ('', NULL); INSERT INTO counted VALUES (7, 1.5), (8, NULL);`;

/** Every row of every table. */
function contentOf(db: Database): unknown {
  return ["parent", "child", "word", "counted"].map((table) =>
    db.prepare(`SELECT * FROM ${table}`).safeIntegers().all(),
  );
}

test("every row of every table is replaced, whatever its kind", () => {
  const [db, from] = [database(one), database(other)];
  replaceRows(db, from, () => {});
  expect(contentOf(db)).toEqual(contentOf(from));
  replaceRows(db, undefined, () => {});
  expect(contentOf(db)).toEqual([[], [], [], []]);
});

test("nothing is replaced when what follows fails, or a row refers to nothing", () => {
  const db = database(one);
  const before = contentOf(db);
  const fail = () => {
    throw new Error("no");
  };
  expect(() => replaceRows(db, database(other), fail)).toThrow("no");
  expect(contentOf(db)).toEqual(before);
  const broken = database("INSERT INTO child VALUES (5, 4);");
  expect(() => replaceRows(db, broken, () => {})).toThrow("A row of child refers to nothing");
  expect(contentOf(db)).toEqual(before);
});

test("references are checked again afterwards, however it ended", () => {
  const db = database(one);
  const insert = () => db.exec("INSERT INTO child VALUES (100, 100)");
  replaceRows(db, undefined, () => {});
  expect(insert).toThrow("FOREIGN KEY");
  expect(() => replaceRows(db, database("INSERT INTO child VALUES (5, 4);"), () => {})).toThrow();
  expect(insert).toThrow("FOREIGN KEY");
});

test("nothing is replaced in the middle of a change", () => {
  const db = database(one);
  db.transaction(() => {
    expect(() => replaceRows(db, undefined, () => {})).toThrow("in the middle of a change");
  })();
});
