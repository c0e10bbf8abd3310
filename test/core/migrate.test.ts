import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Sqlite, { type Database } from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../faces/core.ts";

let folder = "";
let db: Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "migrations "));
  db = new Sqlite(":memory:");
  const made = { folder, db };
  onTestFinished(() => {
    made.db.close();
    rmSync(made.folder, { recursive: true });
  });
});

function write(name: string, sql: string): void {
  writeFileSync(join(folder, name), sql);
}

function run(): void {
  migrate(db, pathToFileURL(`${folder}/`), ({ file, known }) => new Error(`${file} over ${known}`));
}

const version = () => db.pragma("user_version", { simple: true });
const names = () => db.prepare("SELECT name FROM sqlite_master ORDER BY name").pluck().all();

describe("a schema", () => {
  test("is made of the numbered files, in their order", () => {
    write("002_more.sql", "ALTER TABLE a RENAME TO b;");
    write("001_first.sql", "CREATE TABLE a (x); CREATE TABLE c (x);");
    write("notes.txt", "this is no SQL");
    run();
    expect(names()).toEqual(["b", "c"]);
    expect(version()).toBe(2);
  });

  test("that is up to date is left alone", () => {
    write("001_first.sql", "CREATE TABLE a (x);");
    run();
    run();
    expect(names()).toEqual(["a"]);
  });

  test("that is older gets what is new, and nothing again", () => {
    write("001_first.sql", "CREATE TABLE a (x);");
    run();
    write("002_second.sql", "CREATE TABLE b (x);");
    run();
    expect(names()).toEqual(["a", "b"]);
    expect(version()).toBe(2);
  });

  test("is left as it was by a file that fails half way", () => {
    write("001_first.sql", "CREATE TABLE a (x);");
    write("002_broken.sql", "CREATE TABLE b (x); CREATE TABLE a (x);");
    expect(run).toThrow(/already exists/);
    expect(names()).toEqual(["a"]);
    expect(version()).toBe(1);
  });

  test("that is newer is refused, untouched", () => {
    write("001_first.sql", "CREATE TABLE a (x);");
    db.pragma("user_version = 3");
    expect(run).toThrow("3 over 1");
    expect(names()).toEqual([]);
  });
});
