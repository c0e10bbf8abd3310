/** Tables that a copy transfers from a file to PostgreSQL. */

export type Cell = string | number | null;

/** Values of a row, in column order. */
export type Row = readonly Cell[];

export interface Column {
  readonly name: string;
  /** A `time` is in ms since 1970, on the store's clock. */
  readonly type: "text" | "integer" | "time";
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns that the rows are sorted by. Their values are never null, and their combination is unique. */
  readonly key: readonly string[];
}

const text = (name: string): Column => ({ name, type: "text" });
const integer = (name: string): Column => ({ name, type: "integer" });
const time = (name: string): Column => ({ name, type: "time" });

/**
 * Tables of an inbox, each after the tables it references. Events keep their `seq`, which orders events in a lane with
 * equal sort keys. Cursor terms are not copied, because terms start over in the new inbox.
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

export function columnsOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(", ");
}
