import type { Database } from "./database.ts";

/** An event whose runs have ended with the process so often may be what ends it. */
export const CRASHES = 2;

/** Whoever holds this row decides; who comes meanwhile tries again a little later. */
const GATE = "SELECT lane, fence FROM {schema}.suspect FOR UPDATE SKIP LOCKED";

const RUNS = "SELECT 1 FROM {schema}.lane WHERE key = $1 AND fence = $2 AND owner IS NOT NULL";

const ADMIT = `
WITH leased AS (
  UPDATE {schema}.lane SET owner = $3, ready_at = {now} + $4::bigint
  WHERE key = $1 AND fence = $2 AND owner IS NULL RETURNING key
), counted AS (
  UPDATE {schema}.event SET attempts = attempts + 1, fence = $2
  FROM leased WHERE seq = $5 AND state = 'pending' RETURNING attempts
), marked AS (
  UPDATE {schema}.suspect SET lane = $1, fence = $2 FROM leased
)
SELECT attempts FROM counted`;

/** A lane that was put off, with its first event. */
export interface Suspect {
  readonly key: string;
  readonly fence: number;
  readonly seq: number | null;
  readonly attempts: number;
}

/**
 * Events that may be what takes the process down run one after the other, over all instances: nobody can tell
 * the guilty one from those that merely ran at the same time.
 */
export class Suspects {
  readonly #database: Database;
  readonly #owner: string;

  constructor(database: Database, owner: string) {
    this.#database = database;
    this.#owner = owner;
  }

  /** Leases the first of them, unless another one runs. */
  async admitOne<S extends Suspect>(
    [first]: readonly S[],
    leaseMs: number,
  ): Promise<S | undefined> {
    if (first === undefined) return undefined;
    return await this.#database.transaction(async (queries) => {
      const [gate] = await queries.rows<{ lane: string | null; fence: number | null }>(GATE);
      if (gate === undefined) return undefined;
      const running = await queries.rows(RUNS, [gate.lane, gate.fence]);
      if (running.length > 0) return undefined;
      const values = [first.key, first.fence, this.#owner, leaseMs, first.seq];
      const [counted] = await queries.rows<{ readonly attempts: number }>(ADMIT, values);
      return counted && { ...first, attempts: counted.attempts };
    });
  }
}
