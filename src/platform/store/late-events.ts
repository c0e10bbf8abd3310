import type { Database, Statement } from "better-sqlite3";
import type { LoggedEvent } from "./event-log.ts";

/** Events that have a number and are not in the log yet. */
export class LateEvents {
  readonly #hold: Statement<[number, number]>;
  readonly #due: Statement<[number], number>;
  readonly #nextDue: Statement<[], number | null>;
  readonly #release: Statement<[number]>;
  readonly #count: Statement<[], number>;

  constructor(db: Database) {
    this.#hold = db.prepare("INSERT INTO late_event (event, due_at) VALUES (?, ?)");
    this.#due = db
      .prepare<[number], number>("SELECT event FROM late_event WHERE due_at <= ? ORDER BY event")
      .pluck();
    this.#nextDue = db.prepare<[], number | null>("SELECT min(due_at) FROM late_event").pluck();
    this.#release = db.prepare("DELETE FROM late_event WHERE event = ?");
    this.#count = db.prepare<[], number>("SELECT count(*) FROM late_event").pluck();
  }

  /** @param dueAt when it comes into the log, in milliseconds since 1970 */
  hold({ seq }: LoggedEvent, dueAt: number): void {
    this.#hold.run(seq, dueAt);
  }

  /** The numbers of the events whose time it is, in the order of the log. */
  due(now: number): number[] {
    return this.#due.all(now);
  }

  /** When the next one is due, in milliseconds since 1970; undefined when none is late. */
  nextDue(): number | undefined {
    return this.#nextDue.get() ?? undefined;
  }

  /** From now on it is in the log. */
  release(seq: number): void {
    this.#release.run(seq);
  }

  count(): number {
    return this.#count.get() ?? 0;
  }
}
