/** What of an inbox is copied into another one, whatever the two are stored in. */

/** A value of a row. */
export type Cell = string | number | null;

/** The values of a row, in the order of the table's columns. */
export type Row = readonly Cell[];

export interface Column {
  readonly name: string;
  /** A `time` is milliseconds since 1970, on the store's clock. */
  readonly type: "text" | "integer" | "time";
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns that sort the rows, and of which no two rows have the same; none is null. */
  readonly key: readonly string[];
}

const text = (name: string): Column => ({ name, type: "text" });
const integer = (name: string): Column => ({ name, type: "integer" });
const time = (name: string): Column => ({ name, type: "time" });

/**
 * The tables in an order in which each has what it refers to before it. The events keep their `seq`, by
 * which equal ones of a lane are told apart. The term of a cursor is left behind: it belongs to the
 * processes that served the inbox, and those of another one begin anew.
 */
export const tables: readonly Table[] = [
  {
    name: "event",
    key: ["id"],
    columns: [
      ...[integer("seq"), text("id"), text("lane"), text("ord"), text("type"), text("body")],
      ...[text("source"), text("state"), integer("attempts"), integer("crashes")],
      ...[integer("fence"), time("received_at"), time("done_at"), text("error"), text("reason")],
      text("trace"),
    ],
  },
  {
    name: "attempt",
    key: ["event_id", "fence"],
    columns: [
      ...[text("event_id"), integer("fence"), integer("number"), text("outcome"), text("error")],
      time("ended_at"),
    ],
  },
  {
    name: "step",
    key: ["event_id", "name"],
    columns: [
      ...[text("event_id"), text("name"), text("state"), text("request"), text("result")],
      ...[text("ref"), integer("fence"), time("started_at")],
    ],
  },
  {
    name: "lane",
    key: ["key"],
    columns: [
      ...[text("key"), integer("pending"), time("ready_at"), text("owner"), integer("fence")],
      ...[text("done_ord"), time("done_at")],
    ],
  },
  { name: "cursor", key: ["name"], columns: [text("name"), text("position")] },
  { name: "webhook_type", key: ["type"], columns: [text("type")] },
];

/** So many rows are read and written at a time. */
export const BATCH = 1_000;

/** The columns of a table, as a statement lists them. */
export function columnsOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(", ");
}

/**
 * The statement that reads a batch of a table in the order of its key.
 *
 * @param from the table as the store calls it, or what stands for it
 * @param after the parameters that stand for the key of the row before it; none for the first batch
 */
export function selectBatch(table: Table, from: string, after: readonly string[]): string {
  const key = table.key.join(", ");
  const where = after.length === 0 ? "" : `WHERE (${key}) > (${after.join(", ")})`;
  return `SELECT ${columnsOf(table)} FROM ${from} ${where} ORDER BY ${key} LIMIT ${BATCH}`;
}

/** Reads a table batch by batch, so that memory holds one of them whatever its size is. */
export async function* batchesOf(
  table: Table,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  const places = table.key.map((name) => table.columns.findIndex((column) => column.name === name));
  let after: Row | undefined;
  for (;;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = places.map((place) => last[place] ?? null);
  }
}
