import { ServiceBotError } from "../../errors.ts";
import { FORGET_ABSENT, RESTORED, type RestoreMark, writeRestoreMark } from "../restore-mark.ts";
import { type Dialect, query, type Script } from "./store.ts";

export interface InboxContents {
  readonly events: number;
  readonly pending: number;
}

/** Marks an inbox as restored from a backup, and deletes the steps that a lost run may have changed. */
export function* markRestored(mark: RestoreMark): Script<void> {
  const write = `INSERT INTO {schema}.cursor (name, position) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET position = excluded.position`;
  yield* query(write, RESTORED, writeRestoreMark(mark));
  yield* query(`DELETE FROM {schema}.step WHERE ${FORGET_ABSENT}`);
}

export function* countContents(): Script<InboxContents> {
  const [contents] = yield* query<InboxContents>(
    `SELECT count(*) AS events, count(*) FILTER (WHERE state = 'pending') AS pending FROM {schema}.event`,
  );
  return contents ?? { events: 0, pending: 0 };
}

/**
 * Mark on both inboxes of a copy. It prevents bots from using an unfinished copy, and from handling events on the
 * original that the copy handles too. An inbox that was never copied has no mark table. Earlier versions could also
 * copy from PostgreSQL.
 */
export interface Mark {
  /** `target`: the copy into this inbox is unfinished. `source`: this inbox was or is being copied. */
  readonly role: "source" | "target";
  /** Location of the other inbox. */
  readonly other: string;
  /** Id of the run that makes the copy. A run whose mark was replaced does not finish the copy. */
  readonly run: string;
}

export const MARK = "copy_mark";

export function* readMark({ hasTable }: Dialect): Script<Mark | undefined> {
  if ((yield* query(hasTable, MARK)).length === 0) return undefined;
  const [mark] = yield* query<Mark>(`SELECT role, other, run FROM {schema}.${MARK}`);
  return mark;
}

/** Replaces the mark. The DROP waits until no other transaction is reading the mark. */
export function* setMark({ role, other, run }: Mark): Script<void> {
  yield* clearMark();
  yield* query(
    `CREATE TABLE {schema}.${MARK} (role text NOT NULL, other text NOT NULL, run text NOT NULL)`,
  );
  const insert = `INSERT INTO {schema}.${MARK} (role, other, run) VALUES ($1, $2, $3)`;
  yield* query(insert, role, other, run);
}

export function* clearMark(): Script<void> {
  yield* query(`DROP TABLE IF EXISTS {schema}.${MARK}`);
}

/**
 * Throws if an inbox is part of a copy.
 *
 * @param place the inbox's location, for the error message
 * @param roles roles to refuse; both by default
 * @throws {ServiceBotError} INBOX_UNFINISHED, INBOX_MOVED
 */
export function* refuseMarked(
  dialect: Dialect,
  place: string,
  roles: readonly Mark["role"][] = ["source", "target"],
): Script<void> {
  const mark = yield* readMark(dialect);
  if (mark !== undefined && roles.includes(mark.role)) throw markError(mark, place);
}

export function markError({ role, other }: Mark, place: string): ServiceBotError {
  return role === "source" ? moved(place, other) : unfinished(place, other);
}

function unfinished(place: string, other: string): ServiceBotError {
  const again = other.startsWith("file:")
    ? "Run the same `npx service-bot inbox copy` again to finish it, or point"
    : "Point";
  return new ServiceBotError(
    "INBOX_UNFINISHED",
    `${place} is an unfinished copy of ${other}. ${again} the bot at ${other}, which is complete.`,
  );
}

export function moved(place: string, other: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_MOVED",
    `${place} was copied to ${other}. A bot on the original would handle events twice. Set DATABASE_URL to ` +
      "the copy. If no bot has used the copy yet, you can revert the move: run " +
      "`npx service-bot inbox copy --reopen --from` with the original.",
  );
}
