import { readdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { SQLITE_SCHEMA } from "../faces/files.ts";
import { openFile } from "../faces/inbox-sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Returns the schema as SQLite stores it, sorted by name, without comments and whitespace. */
function dump(file: string): string {
  const db = new Sqlite(file);
  try {
    const rows = db
      .prepare<[], { sql: string }>(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name",
      )
      .all();
    const version = db.pragma("user_version", { simple: true });
    const vacuum = db.pragma("auto_vacuum", { simple: true });
    return [
      `-- user_version ${version}, auto_vacuum ${vacuum}`,
      ...rows.map(({ sql }) => tidy(sql)),
    ].join("\n\n");
  } finally {
    db.close();
  }
}

function tidy(sql: string): string {
  return `${sql
    .replace(/--.*$/gm, "")
    .replace(/[ \t]+/g, " ")
    .replace(/ *\n\s*/g, "\n  ")
    .replace(/\n {2}\)/g, "\n)")
    .trim()};`;
}

test("the schema after all migrations is the one in schema.golden.sql", async () => {
  const file = join(temporaryFolder(), "bot.db");
  openFile(file).close();
  await expect(`${dump(file)}\n`).toMatchFileSnapshot("schema.golden.sql");
});

test("the migrations are numbered without a gap", () => {
  const names = readdirSync(SQLITE_SCHEMA).sort();
  expect(names.map((name) => Number(name.slice(0, 3)))).toEqual(names.map((_, index) => index + 1));
  for (const name of names) expect(name).toMatch(/^\d{3}_[a-z_]+\.sql$/);
});
