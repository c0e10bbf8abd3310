import type { Database } from "better-sqlite3";
import type { Claim, StepStart } from "../inbox.ts";
import { ABSENT } from "../restore-mark.ts";

type Parameters = [Record<string, unknown>];

interface StepRow {
  readonly state: "open" | "done";
  readonly request: string;
  readonly result: string | null;
  readonly fence: number;
  readonly started_at: number;
}

const statementsOf = (db: Database) => ({
  find: db.prepare<Parameters, StepRow>(
    "SELECT state, request, result, fence, started_at FROM step WHERE event_id = @id AND name = @name",
  ),
  open: db.prepare<Parameters>(
    `INSERT INTO step (event_id, name, state, request, fence, started_at)
     VALUES (@id, @name, 'open', @request, @fence, @now)`,
  ),
  reopen: db.prepare<Parameters>(
    `UPDATE step SET state = 'open', result = NULL, ref = NULL,
       request = @request, fence = @fence, started_at = @now
     WHERE event_id = @id AND name = @name`,
  ),
  finish: db.prepare<Parameters>(
    `UPDATE step SET state = 'done', result = @result, ref = @ref
     WHERE event_id = @id AND name = @name`,
  ),
  // A deleted row would prove nothing after a restore.
  markAbsent: db.prepare<Parameters>(
    `UPDATE step SET fence = ${ABSENT} WHERE state = 'open' AND event_id = @id AND name = @name`,
  ),
  others: db.prepare<Parameters>(
    "SELECT 1 FROM step WHERE ref = @ref AND NOT (event_id = @id AND name = @name)",
  ),
});

/** Records the intents and results of steps. Runs inside a transaction, while the caller holds the lease. */
export class Steps {
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(db: Database) {
    this.#sql = statementsOf(db);
  }

  begin(claim: Claim, name: string, request: string, now: number): StepStart {
    const row = this.#sql.find.get({ id: claim.id, name });
    if (row === undefined) {
      this.#sql.open.run({ id: claim.id, name, request, fence: claim.fence, now });
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
    this.#sql.reopen.run({ id: claim.id, name, request, fence: claim.fence, now });
  }

  finish(claim: Claim, name: string, result: string, ref: string | undefined): void {
    this.#sql.finish.run({ id: claim.id, name, result, ref: ref ?? null });
  }

  /** False when another step has it. */
  adopt(claim: Claim, name: string, result: string, ref: string): boolean {
    if (this.#sql.others.get({ id: claim.id, name, ref }) !== undefined) return false;
    this.finish(claim, name, result, ref);
    return true;
  }

  drop(claim: Claim, name: string): void {
    this.#sql.markAbsent.run({ id: claim.id, name });
  }
}
