import type { Database, Statement } from "better-sqlite3";
import type { Claim, StepStart } from "../inbox.ts";
import { ABSENT } from "../restored.ts";

type Parameters = [Record<string, unknown>];

interface StepRow {
  readonly state: "open" | "done";
  readonly request: string;
  readonly result: string | null;
  readonly fence: number;
  readonly started_at: number;
}

/** Marks open steps whose effect cannot have happened. A deleted row would prove nothing after a restore. */
export const MARK_ABSENT: string = `UPDATE step SET fence = ${ABSENT} WHERE state = 'open'`;

/** The recorded intents and results of an event's steps. Runs inside a transaction; the caller holds the lease. */
export class Steps {
  readonly #find: Statement<Parameters, StepRow>;
  readonly #open: Statement<Parameters>;
  readonly #reopen: Statement<Parameters>;
  readonly #finish: Statement<Parameters>;
  readonly #drop: Statement<Parameters>;
  readonly #others: Statement<Parameters>;
  readonly #claimed: Statement<Parameters, { readonly ref: string }>;

  constructor(db: Database) {
    this.#find = db.prepare(
      "SELECT state, request, result, fence, started_at FROM step WHERE event_id = @id AND name = @name",
    );
    this.#open = db.prepare(
      `INSERT INTO step (event_id, name, state, request, fence, started_at)
       VALUES (@id, @name, 'open', @request, @fence, @now)`,
    );
    this.#reopen = db.prepare(
      `UPDATE step SET state = 'open', result = NULL, ref = NULL,
         request = @request, fence = @fence, started_at = @now
       WHERE event_id = @id AND name = @name`,
    );
    this.#finish = db.prepare(
      `UPDATE step SET state = 'done', result = @result, ref = @ref
       WHERE event_id = @id AND name = @name`,
    );
    this.#drop = db.prepare(`${MARK_ABSENT} AND event_id = @id AND name = @name`);
    this.#others = db.prepare(
      "SELECT 1 FROM step WHERE ref = @ref AND NOT (event_id = @id AND name = @name)",
    );
    this.#claimed = db.prepare(
      "SELECT ref FROM step WHERE ref IN (SELECT value FROM json_each(@refs))",
    );
  }

  begin(claim: Claim, name: string, request: string, now: number): StepStart {
    const row = this.#find.get({ id: claim.id, name });
    if (row === undefined) {
      this.#open.run({ id: claim.id, name, request, fence: claim.fence, now });
      return { state: "new" };
    }
    if (row.state === "open" && row.fence === ABSENT) {
      this.restart(claim, name, request, now);
      return { state: "absent" };
    }
    const ageMs = now - row.started_at;
    const { state, request: before, result } = row;
    if (state === "done") return { state, request: before, result: result ?? undefined, ageMs };
    return { state, request: before, ageMs };
  }

  restart(claim: Claim, name: string, request: string, now: number): void {
    this.#reopen.run({ id: claim.id, name, request, fence: claim.fence, now });
  }

  finish(claim: Claim, name: string, result: string, ref: string | undefined): void {
    this.#finish.run({ id: claim.id, name, result, ref: ref ?? null });
  }

  /** False when another step has it. */
  adopt(claim: Claim, name: string, result: string, ref: string): boolean {
    if (this.#others.get({ id: claim.id, name, ref }) !== undefined) return false;
    this.finish(claim, name, result, ref);
    return true;
  }

  drop(claim: Claim, name: string): void {
    this.#drop.run({ id: claim.id, name });
  }

  claimed(refs: readonly string[]): ReadonlySet<string> {
    const rows = this.#claimed.all({ refs: JSON.stringify(refs) });
    return new Set(rows.map((row) => row.ref));
  }
}
