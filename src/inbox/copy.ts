/** The tables that a copy of an inbox takes from a file into PostgreSQL. */

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
  /** Columns that sort the rows. Together they are unique, and none is null. */
  readonly key: readonly string[];
}

const text = (name: string): Column => ({ name, type: "text" });
const integer = (name: string): Column => ({ name, type: "integer" });
const time = (name: string): Column => ({ name, type: "time" });

/**
 * The tables of an inbox; each comes after those that it refers to. Events keep their `seq`, which orders equal ones of a
 * lane. The term of a cursor stays behind, because the processes of the new inbox count from the beginning.
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
  {
    name: "state",
    key: ["key"],
    columns: [text("key"), text("value"), text("version"), time("updated_at")],
  },
  {
    name: "timer",
    key: ["lane", "name", "key"],
    columns: [
      ...[text("lane"), text("name"), text("key"), time("due_at"), text("event_id")],
      text("body"),
    ],
  },
  { name: "cursor", key: ["name"], columns: [text("name"), text("position")] },
  { name: "webhook_type", key: ["type"], columns: [text("type")] },
];

/** The columns of a table, as a statement lists them. */
export function columnsOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(", ");
}
