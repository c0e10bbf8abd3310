import type { Claim, ReconcileResult, StepStart } from "../inbox.ts";
import { ABSENT } from "../restore-mark.ts";
import type { Steps } from "../sql/sql-inbox.ts";
import type { Database } from "./database.ts";
import { HELD } from "./lane-statements.ts";

/** Locks the lane until the write is committed, so that its lease cannot be taken over in between. */
const WHILE_HELD = `
WITH held AS MATERIALIZED (
  SELECT key FROM {schema}.lane WHERE ${HELD} FOR NO KEY UPDATE
)`;

const BEGIN = `${WHILE_HELD}, opened AS (
  INSERT INTO {schema}.step (event_id, name, state, request, fence, started_at)
  SELECT $4::text, $5::text, 'open', $6::text, $3::bigint, {now} FROM held
  ON CONFLICT (event_id, name) DO NOTHING RETURNING name
)
SELECT EXISTS (SELECT FROM held) AS held, EXISTS (SELECT FROM opened) AS opened,
  step.state, step.request, step.result, {now} - step.started_at AS age, step.fence = ${ABSENT} AS absent
FROM (VALUES (1)) AS one LEFT JOIN {schema}.step ON step.event_id = $4 AND step.name = $5`;

const change = (write: string) => `${WHILE_HELD}, changed AS (${write})
SELECT key FROM held`;

const RESTART = change(
  `UPDATE {schema}.step SET state = 'open', result = NULL, ref = NULL, request = $6::text,
     fence = $3::bigint, started_at = {now}
   FROM held WHERE step.event_id = $4 AND step.name = $5`,
);

const FINISH = change(
  `UPDATE {schema}.step SET state = 'done', result = $6::text, ref = $7::text
   FROM held WHERE step.event_id = $4 AND step.name = $5`,
);

/** The lock under which an effect is adopted: a number of our own, and the id. */
const LOCK_REF = "SELECT pg_advisory_xact_lock(1936876644, hashtext($1))";

const OTHERS = "SELECT 1 FROM {schema}.step WHERE ref = $1 AND NOT (event_id = $2 AND name = $3)";

/** A process whose lease ran out may still be at the step: its lane has an owner until it is claimed anew. */
const UNDER_WAY = `
SELECT step.request FROM {schema}.lane
  JOIN {schema}.event ON event.lane = lane.key AND event.state = 'pending' AND event.seq = lane.claimed
  JOIN {schema}.step ON step.event_id = event.id
WHERE lane.ready_at IS NOT NULL AND lane.owner IS NOT NULL AND lane.key <> $1
  AND step.state = 'open' AND step.fence <> ${ABSENT} AND {now} - step.started_at < $2`;

/** Marks open steps whose effect cannot have happened. A deleted row would prove nothing after a restore. */
const MARK_ABSENT = `UPDATE {schema}.step SET fence = ${ABSENT} WHERE step.state = 'open'`;

const DROP = change(
  `${MARK_ABSENT} AND EXISTS (SELECT FROM held) AND step.event_id = $4 AND step.name = $5`,
);

interface BegunRow {
  readonly held: boolean;
  readonly opened: boolean;
  /** Null if there was no such step before. */
  readonly state: "open" | "done" | null;
  readonly request: string;
  readonly result: string | null;
  readonly age: number;
  readonly absent: boolean | null;
}

/** Records the intents and results of steps, while the claim of their event holds. */
export class PostgresSteps implements Steps {
  readonly #database: Database;
  readonly #owner: string;

  constructor(database: Database, owner: string) {
    this.#database = database;
    this.#owner = owner;
  }

  /** `undefined` if the lease was lost. */
  async begin(claim: Claim, name: string, request: string): Promise<StepStart | undefined> {
    for (;;) {
      const [row] = await this.#database.rows<BegunRow>(BEGIN, [
        ...this.#key(claim, name),
        request,
      ]);
      if (row?.held !== true) return undefined;
      if (row.opened) return { state: "new" };
      if (row.state === "open" && row.absent === true) {
        const again = await this.restart(claim, name, request);
        return again ? { state: "absent" } : undefined;
      }
      const { state, request: before, result, age: ageMs } = row;
      if (state === "done") {
        return { state, request: before, result: result ?? undefined, ageMs };
      }
      if (state === "open") return { state, request: before, ageMs };
      // It was recorded in the same moment, and the next statement sees it.
    }
  }

  restart(claim: Claim, name: string, request: string): Promise<boolean> {
    return this.#change(RESTART, claim, name, request);
  }

  finish(claim: Claim, name: string, result: string, ref?: string): Promise<boolean> {
    return this.#change(FINISH, claim, name, result, ref ?? null);
  }

  /** If two steps have found the same effect, one waits until the other has recorded it. */
  adopt(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult> {
    return this.#database.transaction(async (queries) => {
      await queries.rows(LOCK_REF, [ref]);
      const others = await queries.rows(OTHERS, [ref, claim.id, name]);
      if (others.length > 0) return "taken";
      const values = [...this.#key(claim, name), result, ref];
      return (await queries.rows(FINISH, values)).length > 0 ? "adopted" : "lost";
    });
  }

  drop(claim: Claim, name: string): Promise<boolean> {
    return this.#change(DROP, claim, name);
  }

  async underWay({ lane }: Claim, withinMs: number): Promise<readonly string[]> {
    const values = [lane, withinMs];
    const rows = await this.#database.rows<{ readonly request: string }>(UNDER_WAY, values);
    return rows.map(({ request }) => request);
  }

  /** False when the lease was lost. */
  async #change(
    statement: string,
    claim: Claim,
    name: string,
    ...more: readonly (string | null)[]
  ): Promise<boolean> {
    const values = [...this.#key(claim, name), ...more];
    return (await this.#database.rows(statement, values)).length > 0;
  }

  #key({ lane, fence, id }: Claim, name: string): readonly unknown[] {
    return [lane, this.#owner, fence, id, name];
  }
}
