import { SUSPECT_WAIT_MS } from "../sql/sql-inbox.ts";
import { query, type Script } from "../sql/store.ts";
import type { Database } from "./database.ts";

/** Finds the running suspect. The deciding instance locks the row, and another instance retries a little later. */
const GATE = "SELECT lane, fence FROM {schema}.suspect FOR UPDATE SKIP LOCKED";

const RUNS = "SELECT 1 FROM {schema}.lane WHERE key = $1 AND fence = $2 AND owner IS NOT NULL";

const ADMIT = `
WITH leased AS (
  UPDATE {schema}.lane SET owner = $3, ready_at = {now} + $4::bigint
  WHERE key = $1 AND fence = $2 AND owner IS NULL RETURNING key
), marked AS (
  UPDATE {schema}.suspect SET lane = $1, fence = $2 FROM leased
)
SELECT attempts FROM leased CROSS JOIN {schema}.event
WHERE id = $5 AND state = 'pending' FOR NO KEY UPDATE OF event`;

/**
 * Postpones suspects. Skips lanes that changed because another instance leased them, they became idle, or an operator
 * released them.
 */
const PUT_OFF = `
WITH waiting AS MATERIALIZED (
  SELECT lane.key FROM unnest($1::text[], $2::bigint[]) AS input (key, fence)
  JOIN {schema}.lane ON lane.key = input.key AND lane.fence = input.fence
  WHERE lane.owner IS NULL AND lane.ready_at IS NOT NULL ORDER BY lane.key FOR UPDATE OF lane
)
UPDATE {schema}.lane SET ready_at = least(lane.ready_at, {now} + ${SUSPECT_WAIT_MS}) FROM waiting
WHERE lane.key = waiting.key`;

/** A lane leased without an owner, with its first event. */
export interface Suspect {
  readonly key: string;
  readonly fence: number;
  readonly id: string;
  readonly attempts: number;
}

/**
 * Runs suspect events one at a time across all instances, because the event that crashes the process looks the same as
 * events that merely ran at the same time.
 */
export class Suspects {
  readonly #database: Database;
  readonly #owner: string;

  constructor(database: Database, owner: string) {
    this.#database = database;
    this.#owner = owner;
  }

  /**
   * Leases the first suspect unless another suspect is running, and postpones the others. Their lanes stay closed
   * during the decision. Otherwise, with a slow database, instances could take the lanes from each other forever.
   */
  async decide<S extends Suspect>(suspects: readonly S[], leaseMs: number): Promise<S | undefined> {
    const [first, ...others] = suspects;
    if (first === undefined) return undefined;
    let admitted: S | undefined;
    try {
      admitted = await this.#admit(first, leaseMs);
      return admitted;
    } finally {
      await this.#postpone(admitted === undefined ? suspects : others);
    }
  }

  #admit<S extends Suspect>(suspect: S, leaseMs: number): Promise<S | undefined> {
    const { key, fence, id } = suspect;
    const values = [key, fence, this.#owner, leaseMs, id];
    return this.#database.run(function* (): Script<S | undefined> {
      const [gate] = yield* query<{ lane: string | null; fence: number | null }>(GATE);
      if (gate === undefined) return undefined;
      if ((yield* query(RUNS, gate.lane, gate.fence)).length > 0) return undefined;
      const [counted] = yield* query<{ readonly attempts: number }>(ADMIT, ...values);
      return counted && { ...suspect, attempts: counted.attempts };
    });
  }

  async #postpone(suspects: readonly Suspect[]): Promise<void> {
    if (suspects.length === 0) return;
    const [keys, fences] = [suspects.map(({ key }) => key), suspects.map(({ fence }) => fence)];
    await this.#database.rows(PUT_OFF, [keys, fences]);
  }
}
