import { randomUUID } from "node:crypto";
import type { Budget, SettledPlace, TakenPlaces } from "../../shared.ts";
import type { Queries } from "../database.ts";

const PREPARE = `
INSERT INTO {schema}.place (number) SELECT generate_series(1, $1::integer) ON CONFLICT (number) DO NOTHING`;

/** So many times are told of places that come free: nobody waits for more at once. */
const MOST_TIMES = 1_000;

/** A place that somebody else is just taking is passed over, so that nobody waits, and none has two holders. */
const TAKE = `
WITH state AS MATERIALIZED (
  SELECT count(*) AS n FROM {schema}.place WHERE number <= $1 AND frees_at <= {now}
), picked AS MATERIALIZED (
  SELECT number FROM {schema}.place WHERE number <= $1 AND frees_at <= {now}
  ORDER BY number LIMIT greatest(0, least($2::bigint, (SELECT n FROM state) - $3::bigint))
  FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE {schema}.place SET grip = $4, frees_at = {now} + $5::bigint FROM picked
  WHERE place.number = picked.number RETURNING place.number
)
SELECT ARRAY(SELECT number FROM taken ORDER BY number) AS numbers,
  (SELECT n FROM state) - (SELECT count(*) FROM taken) AS free,
  ARRAY(SELECT (frees_at - {now})::integer FROM {schema}.place WHERE number <= $1 AND frees_at > {now}
    ORDER BY frees_at LIMIT ${MOST_TIMES}) AS "freeInMs"`;

const SETTLE = `
UPDATE {schema}.place SET frees_at = {now} + input.ms
FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS input (grip, number, ms)
WHERE place.number = input.number AND place.grip = input.grip`;

type TakenRow = Omit<TakenPlaces, "grip">;

/** The budget of requests, a row for each place. */
export class PostgresBudget implements Budget {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  async prepare(total: number): Promise<void> {
    await this.#queries.rows(PREPARE, [total]);
  }

  async take(total: number, most: number, leave: number, holdMs: number): Promise<TakenPlaces> {
    const grip = randomUUID();
    const values = [total, most, leave, grip, holdMs];
    const [row] = await this.#queries.rows<TakenRow>(TAKE, values);
    return { grip, ...(row ?? { numbers: [], free: 0, freeInMs: [] }) };
  }

  async settle(places: readonly SettledPlace[]): Promise<void> {
    if (places.length === 0) return;
    await this.#queries.rows(SETTLE, [
      places.map(({ grip }) => grip),
      places.map(({ number }) => number),
      places.map(({ freeInMs }) => Math.round(freeInMs)),
    ]);
  }
}
