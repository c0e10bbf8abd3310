import type { Candidacy, Leases } from "../../shared.ts";
import type { Queries } from "../database.ts";
import { ALIVE } from "./instances.ts";

/**
 * Begins a term, or renews one: then `$4` is its number. The row is looked at again once it is locked, so of
 * two that come for a lease that has run out one gets it. That the time is the statement's, and so a little old
 * where it had to wait, only makes a lease shorter. There was a gap when nobody who is here was here already
 * at the last sign of life of the leader before.
 */
const LEAD = `
WITH before AS MATERIALIZED (
  SELECT term, expires_at, renewed_at FROM {schema}.leader WHERE name = $1
), led AS (
  INSERT INTO {schema}.leader AS at (name, holder, term, expires_at, renewed_at)
  SELECT $1, $2, 1, {now} + $3::bigint, {now} WHERE $4::bigint IS NULL OR EXISTS (SELECT FROM before)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
    renewed_at = excluded.renewed_at, term = at.term + CASE WHEN $4::bigint IS NULL THEN 1 ELSE 0 END
  WHERE CASE WHEN $4::bigint IS NULL THEN at.expires_at <= {now} OR at.holder = $2
    ELSE at.holder = $2 AND at.term = $4::bigint END
  RETURNING term
)
SELECT (SELECT term FROM led) AS term, (SELECT expires_at FROM before) - {now} AS left,
  NOT EXISTS (SELECT FROM {schema}.instance, before
    WHERE started_at <= before.renewed_at AND ${ALIVE}) AS gap`;

const RESIGN = `
UPDATE {schema}.leader SET holder = NULL, expires_at = {now}, renewed_at = {now}
WHERE name = $1 AND term = $2 AND holder = $3 RETURNING name`;

interface LedRow {
  /** Null when somebody else leads. */
  readonly term: number | null;
  readonly left: number | null;
  readonly gap: boolean;
}

/** Who does what only one instance may do. */
export class PostgresLeases implements Leases {
  readonly #queries: Queries;
  readonly #instance: string;
  readonly #tell: () => void;

  /** @param tell tells the other instances that a lease was handed back */
  constructor(queries: Queries, instance: string, tell: () => void) {
    this.#queries = queries;
    this.#instance = instance;
    this.#tell = tell;
  }

  async lead(name: string, leaseMs: number, term?: number): Promise<Candidacy> {
    const values = [name, this.#instance, leaseMs, term ?? null];
    const [row] = await this.#queries.rows<LedRow>(LEAD, values);
    if (row?.term == null) return { leads: false, expiresInMs: Math.max(0, row?.left ?? 0) };
    return { leads: true, term: row.term, afterGap: row.gap };
  }

  async resign(name: string, term: number): Promise<void> {
    const ended = await this.#queries.rows(RESIGN, [name, term, this.#instance]);
    if (ended.length > 0) this.#tell();
  }
}
