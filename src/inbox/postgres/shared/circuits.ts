import type { Circuits, OpenCircuit, Trial } from "../../shared.ts";
import type { Queries } from "../database.ts";

/** Of two that open it the longer wait holds; whoever tried has its answer. */
const OPEN = `
INSERT INTO {schema}.circuit AS was (name, opened, open_until, asked, version)
VALUES ($1, $2, {now} + $3::bigint, $4, 1)
ON CONFLICT (name) DO UPDATE SET version = was.version + 1, trial = NULL, trial_until = NULL,
  opened = greatest(was.opened, excluded.opened),
  open_until = CASE WHEN was.opened = 0 THEN excluded.open_until
    ELSE greatest(was.open_until, excluded.open_until) END,
  asked = excluded.asked
    OR (was.opened > 0 AND was.asked AND was.open_until > excluded.open_until)
RETURNING name, opened, asked, version, open_until - {now} AS "openMs"`;

const CLOSE = `
UPDATE {schema}.circuit SET opened = 0, trial = NULL, trial_until = NULL
WHERE name = $1 AND version = $2 AND opened > 0 RETURNING name`;

const CLAIM = `
WITH claimed AS (
  UPDATE {schema}.circuit SET trial = $2, trial_until = {now} + $3::bigint
  WHERE name = $1 AND opened > 0 AND open_until <= {now} AND coalesce(trial_until, 0) <= {now}
  RETURNING name
)
SELECT EXISTS (SELECT FROM claimed) AS granted, opened,
  greatest(open_until, coalesce(trial_until, 0)) - {now} AS ms
FROM {schema}.circuit WHERE name = $1`;

const LEAVE = `
UPDATE {schema}.circuit SET trial = NULL, trial_until = NULL WHERE name = $1 AND trial = $2 RETURNING name`;

const LIST = `
SELECT name, opened, asked, version, greatest(0, open_until - {now}) AS "openMs"
FROM {schema}.circuit WHERE opened > 0 ORDER BY name`;

/** Two that ask at the same moment: one of them asks again after this, in milliseconds. */
const AGAIN_MS = 1_000;

interface ClaimRow {
  readonly granted: boolean;
  readonly opened: number;
  readonly ms: number;
}

/** The circuit breakers that all instances respect. */
export class PostgresCircuits implements Circuits {
  readonly #queries: Queries;
  readonly #instance: string;
  readonly #tell: () => void;

  /** @param tell tells the other instances that one has opened or closed */
  constructor(queries: Queries, instance: string, tell: () => void) {
    this.#queries = queries;
    this.#instance = instance;
    this.#tell = tell;
  }

  async open(circuit: Omit<OpenCircuit, "version">): Promise<OpenCircuit> {
    const { name, opened, openMs, asked } = circuit;
    const [open] = await this.#queries.rows<OpenCircuit>(OPEN, [name, opened, openMs, asked]);
    this.#tell();
    return open ?? { ...circuit, version: 0 };
  }

  async close(name: string, version: number): Promise<void> {
    const closed = await this.#queries.rows(CLOSE, [name, version]);
    if (closed.length > 0) this.#tell();
  }

  async claim(name: string, ttlMs: number): Promise<Trial> {
    const [row] = await this.#queries.rows<ClaimRow>(CLAIM, [name, this.#instance, ttlMs]);
    if (row === undefined || row.opened === 0) return { kind: "closed" };
    if (row.granted) return { kind: "granted" };
    return { kind: "wait", ms: row.ms > 0 ? row.ms : AGAIN_MS };
  }

  async leave(name: string): Promise<void> {
    await this.#queries.rows(LEAVE, [name, this.#instance]);
  }

  list(): Promise<readonly OpenCircuit[]> {
    return this.#queries.rows<OpenCircuit>(LIST);
  }
}
