import { ServiceBotError } from "../errors.ts";

// A copy of an inbox from a file into PostgreSQL: its tables, and the mark that both stores understand.

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
  { name: "cursor", key: ["name"], columns: [text("name"), text("position")] },
  { name: "webhook_type", key: ["type"], columns: [text("type")] },
];

/** The columns of a table, as a statement lists them. */
export function columnsOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(", ");
}

/**
 * The mark of an inbox that takes part in a copy. No bot takes half a copy for the whole, and none handles again what
 * the copy handles. An inbox that was never copied has no such table. Earlier versions copied in other directions, too.
 */
export interface Mark {
  /** `target`: the copy into this inbox is unfinished. `source`: this inbox was copied, or is being copied. */
  readonly role: "source" | "target";
  /** The place of the other inbox. */
  readonly other: string;
  /** Names the run of the copy. A later run takes over. */
  readonly run: string;
}

/** The table of the mark. */
export const MARK = "copy_mark";

/** The error of a bot that opens an inbox with this mark. */
export function markError({ role, other }: Mark, place: string): ServiceBotError {
  return role === "source" ? moved(place, other) : unfinished(place, other);
}

function unfinished(place: string, other: string): ServiceBotError {
  const again = other.startsWith("file:")
    ? 'Run the same "service-bot inbox copy" again, which begins anew; or let'
    : "Let";
  return new ServiceBotError(
    "INBOX_UNFINISHED",
    `${place} is an unfinished copy of ${other}. ${again} the bot go on there: nothing is missing.`,
  );
}

export function moved(place: string, other: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_MOVED",
    `${place} was copied to ${other}, and a bot here would handle events a second time. Set DATABASE_URL to ` +
      'the copy. If no bot has used the copy yet, "service-bot inbox copy --reopen --from" with this place ' +
      "takes it back.",
  );
}
