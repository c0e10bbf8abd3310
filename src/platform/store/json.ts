import type { Database } from "better-sqlite3";
import * as z from "../../core/zod.ts";
import { messageOf } from "../../errors.ts";
import { invalid, PlatformError } from "../error.ts";
import { validate } from "../http/body.ts";
import { MEMORY, openBytes, openDatabase } from "./database.ts";
import { columnsOf, copyOf, quoted, replaceRows, tablesOf } from "./rows.ts";

/** What tells an exported state from any other JSON. */
const FORMAT = "service-bot platform state";

/** Pieces are put together up to this length, in characters. */
const CHUNK = 65_536;

const state: z.ZodType<{ schema: number; tables: Record<string, unknown[]> }> = z.strictObject({
  format: z.literal(
    FORMAT,
    "This is no state of a platform: take what GET /control/v1/export gives.",
  ),
  schema: z.int(),
  tables: z.record(z.string(), z.array(z.unknown())),
});

/** A copy of everything (`Store.copy`) as JSON, in pieces: the rows of each table, with their columns by name. */
export function* jsonOf(copy: Uint8Array): Generator<string> {
  const db = openBytes(copy);
  try {
    let text = "";
    for (const part of partsOf(db)) {
      text += part;
      if (text.length < CHUNK) continue;
      yield text;
      text = "";
    }
    yield text;
  } finally {
    db.close();
  }
}

function* partsOf(db: Database): Generator<string> {
  yield `{"format":${JSON.stringify(FORMAT)},"schema":${schemaVersion(db)},"tables":{`;
  for (const [index, table] of tablesOf(db).entries()) {
    yield `${index === 0 ? "" : ","}\n${JSON.stringify(table)}:[`;
    const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${quoted(table)}`);
    let before = "\n";
    for (const row of rows.safeIntegers().iterate()) {
      const cells = Object.entries(row).map(([name, value]) => [name, written(value)] as const);
      yield before + JSON.stringify(Object.fromEntries(cells));
      before = ",\n";
    }
    yield "]";
  }
  yield "}}\n";
}

/**
 * The SQLite file that such JSON stands for, with the schema of this version.
 *
 * @throws {PlatformError} 400 VALIDATION: something else, of another version, or rows that do not fit
 */
export function fileOf(json: unknown): Uint8Array {
  const { schema, tables } = validate(state, json);
  const db = openDatabase(MEMORY);
  try {
    checkVersion(schema, schemaVersion(db));
    checkTables(tablesOf(db), tables);
    replaceRows(db, undefined, () => {
      for (const [table, rows] of Object.entries(tables)) insert(db, table, rows);
    });
    return copyOf(db);
  } catch (error) {
    throw error instanceof PlatformError
      ? error
      : invalid(`The state is not whole: ${messageOf(error)}`);
  } finally {
    db.close();
  }
}

function insert(db: Database, table: string, rows: readonly unknown[]): void {
  const columns = columnsOf(db, table);
  const list = columns.map(quoted).join(", ");
  const places = columns.map(() => "?").join(", ");
  const add = db.prepare<unknown[]>(`INSERT INTO ${quoted(table)} (${list}) VALUES (${places})`);
  for (const [index, row] of rows.entries()) {
    const where = `tables.${table}.${index}`;
    const cells = cellsOf(row, columns, where);
    try {
      add.run(...cells);
    } catch (error) {
      throw invalid(`${where}: ${messageOf(error)}`);
    }
  }
}

function cellsOf(row: unknown, columns: readonly string[], where: string): unknown[] {
  const given = Object(row) as Record<string, unknown>;
  const names = Object.keys(given);
  if (names.length !== columns.length || !columns.every((name) => Object.hasOwn(given, name))) {
    throw invalid(`${where} must have the columns ${columns.join(", ")}`);
  }
  return columns.map((name) => {
    const value = read(given[name]);
    if (value === undefined) throw invalid(`${where}.${name} is no value of a column`);
    return value;
  });
}

/** A value of a column; undefined for what cannot be one. Bytes, and numbers that JSON would round, stand as objects. */
function read(value: unknown): string | number | bigint | Buffer | null | undefined {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  const { base64, integer, ...more }: Record<string, unknown> = Object(value);
  if (Object.keys(more).length > 0) return undefined;
  if (typeof base64 === "string" && integer === undefined) {
    const bytes = Buffer.from(base64, "base64");
    return bytes.toString("base64") === base64 ? bytes : undefined;
  }
  const digits = typeof integer === "string" && /^-?\d{1,19}$/.test(integer);
  return digits && base64 === undefined ? BigInt(integer) : undefined;
}

function written(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { base64: value.toString("base64") };
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : { integer: String(value) };
}

function schemaVersion(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

function checkVersion(given: number, own: number): void {
  if (given === own) return;
  const remedy =
    given > own
      ? "update service-bot here"
      : "take the state along as a file, which is brought up to date: --state, or POST /control/v1/snapshots/file";
  throw invalid(
    `The state has version ${given} of the schema, and this platform has version ${own}: ${remedy}.`,
  );
}

function checkTables(own: readonly string[], given: Readonly<Record<string, unknown>>): void {
  const missing = own.filter((table) => !Object.hasOwn(given, table));
  const unknown = Object.keys(given).filter((table) => !own.includes(table));
  if (missing.length > 0)
    throw invalid(`tables: ${missing.join(", ")} must be there, if only as []`);
  if (unknown.length > 0) throw invalid(`tables: there is no ${unknown.join(", ").slice(0, 200)}`);
}
