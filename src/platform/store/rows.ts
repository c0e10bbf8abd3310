import type { Database } from "better-sqlite3";

/** Bytes 18 and 19 of a file say how it is journalled: 1 is a file by itself, 2 is one with a WAL. */
const JOURNAL_BYTES = [18, 19];

/** A copy of everything, as a SQLite file without a WAL beside it. */
export function copyOf(db: Database): Uint8Array {
  return forgetWal(db.serialize());
}

/** A file that has no WAL beside it: bytes in memory cannot be opened with one. The given one stays as it is. */
export function withoutWal(file: Uint8Array): Uint8Array {
  return JOURNAL_BYTES.some((at) => file[at] === 2) ? forgetWal(Uint8Array.from(file)) : file;
}

function forgetWal(file: Uint8Array): Uint8Array {
  for (const at of JOURNAL_BYTES) if (file[at] === 2) file[at] = 1;
  return file;
}

/**
 * Replaces the rows of every table by those of a database with the same schema, or by none, and then runs
 * `settle`: all of that, or nothing.
 */
export function replaceRows(db: Database, from: Database | undefined, settle: () => void): void {
  if (db.inTransaction) throw new Error("The state cannot be replaced in the middle of a change");
  // Checked once at the end: row by row, every deletion would look for what refers to it.
  db.pragma("foreign_keys = OFF");
  try {
    const replace = db.transaction(() => {
      for (const table of tablesOf(db)) {
        db.exec(`DELETE FROM ${quoted(table)}`);
        if (from !== undefined) copyTable(table, from, db);
      }
      settle();
      checkReferences(db);
    });
    replace.immediate();
  } finally {
    db.pragma("foreign_keys = ON");
  }
}

/** What the schema is made of: a line for each table, index and trigger. */
export function schemaOf(db: Database): string[] {
  const items = db.prepare<[], { type: string; name: string; sql: string }>(
    `SELECT type, name, sql FROM sqlite_schema
     WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name`,
  );
  return items.all().map(({ type, name, sql }) => `${type} ${name}: ${sql}`);
}

/** @throws {Error} a row refers to one that is not there */
export function checkReferences(db: Database): void {
  const [broken] = db.prepare<[], { table: string }>("PRAGMA foreign_key_check").all();
  if (broken !== undefined) throw new Error(`A row of ${broken.table} refers to nothing`);
}

export function tablesOf(db: Database): string[] {
  const tables = db.prepare<[], { name: string }>(
    `SELECT name FROM sqlite_schema
     WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  return tables.all().map(({ name }) => name);
}

export function columnsOf(db: Database, table: string): string[] {
  const columns = db.prepare<[string], { name: string }>("SELECT name FROM pragma_table_info(?)");
  return columns.all(table).map(({ name }) => name);
}

function copyTable(table: string, from: Database, to: Database): void {
  const names = columnsOf(to, table).map(quoted);
  const list = names.join(", ");
  const insert = to.prepare<unknown[]>(
    `INSERT INTO ${quoted(table)} (${list}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  const rows = from.prepare<[], unknown[]>(`SELECT ${list} FROM ${quoted(table)}`);
  for (const row of rows.raw().safeIntegers().iterate()) insert.run(...row);
}

/** A name as SQL takes it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
