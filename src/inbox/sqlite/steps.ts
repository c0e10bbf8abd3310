import type { Database } from "better-sqlite3";
import type { Claim, ReconcileResult, StepStart } from "../inbox.ts";
import { ABSENT } from "../restore-mark.ts";
import type { Steps } from "../sql/sql-inbox.ts";
import type { Writer } from "./intake.ts";

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

/** Records the intents and results of steps. */
export class SqliteSteps implements Steps {
  readonly #writer: Writer;
  readonly #holds: (claim: Claim) => boolean;
  readonly #sql: ReturnType<typeof statementsOf>;

  /** @param holds true while the lease of a claim was not taken over */
  constructor(db: Database, writer: Writer, holds: (claim: Claim) => boolean) {
    this.#writer = writer;
    this.#holds = holds;
    this.#sql = statementsOf(db);
  }

  begin(claim: Claim, name: string, request: string): Promise<StepStart | undefined> {
    return this.#writer.write((now) => {
      return this.#holds(claim) ? this.#begin(claim, name, request, now) : undefined;
    });
  }

  #begin(claim: Claim, name: string, request: string, now: number): StepStart {
    const { id, fence } = claim;
    const row = this.#sql.find.get({ id, name });
    if (row === undefined) {
      this.#sql.open.run({ id, name, request, fence, now });
      return { state: "new" };
    }
    const { state, request: before, result } = row;
    if (state === "open" && row.fence === ABSENT) {
      this.#sql.reopen.run({ id, name, request, fence, now });
      return { state: "absent" };
    }
    const ageMs = now - row.started_at;
    if (state === "done") return { state, request: before, result: result ?? undefined, ageMs };
    return { state, request: before, ageMs };
  }

  restart(claim: Claim, name: string, request: string): Promise<boolean> {
    const { id, fence } = claim;
    return this.#whileHeld(claim, (now) => this.#sql.reopen.run({ id, name, request, fence, now }));
  }

  finish(claim: Claim, name: string, result: string, ref: string | null = null): Promise<boolean> {
    return this.#whileHeld(claim, () => this.#sql.finish.run({ id: claim.id, name, result, ref }));
  }

  adopt(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult> {
    const { id } = claim;
    return this.#writer.write(() => {
      if (!this.#holds(claim)) return "lost";
      if (this.#sql.others.get({ id, name, ref }) !== undefined) return "taken";
      this.#sql.finish.run({ id, name, result, ref });
      return "adopted";
    });
  }

  drop(claim: Claim, name: string): Promise<boolean> {
    return this.#whileHeld(claim, () => this.#sql.markAbsent.run({ id: claim.id, name }));
  }

  /** This process knows its own steps, and no other uses the file. */
  async underWay(): Promise<readonly string[]> {
    return [];
  }

  #whileHeld(claim: Claim, work: (now: number) => unknown): Promise<boolean> {
    return this.#writer.write((now) => {
      if (!this.#holds(claim)) return false;
      work(now);
      return true;
    });
  }
}
