/** Parts of the statements that write lanes. */

/** Guards every write of a claim: nothing is written once another claim has the lane. */
export const HELD = "key = $1 AND owner = $2 AND fence = $3";

/** 1 if the condition holds, otherwise 0. */
export const is = (condition: string): string => `coalesce(${condition}, false)::integer`;

/**
 * Rows out of lists, which are given as values from `$2` on, with their number `n` from 1 up. The planner cannot see how
 * long the lists are, and expects a few rows. For some hundred it would read whole tables while these are small, where
 * to look up each row is a tenth of the work.
 *
 * @param columns the name of each column, with its type
 */
export function rowsOf(columns: Readonly<Record<string, string>>): string {
  const lists = Object.values(columns).map((type, nth) => `(SELECT $${nth + 2}::${type}[])`);
  const names = [...Object.keys(columns), "n"].join(", ");
  return `SELECT * FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS input (${names}) WHERE n > 0`;
}

/**
 * The rows in the order of the keys of their lanes, and of equal keys in the order in which they were given. Every
 * transaction takes lanes in this order, so that no two wait for each other.
 */
export const SORTED = 'sorted AS MATERIALIZED (SELECT * FROM input ORDER BY lane COLLATE "C", n)';

/**
 * The lanes of several claims, as far as their leases hold, locked. Each is as it is after the lock, because a batch may
 * have come in meanwhile.
 *
 * @param columns of the lane, besides those of the input
 */
export const lockHeld = (columns: string): string => `${SORTED}, held AS MATERIALIZED (
  SELECT sorted.*, lane.* FROM sorted CROSS JOIN LATERAL (
    SELECT ${columns} FROM {schema}.lane
    WHERE key = sorted.lane AND owner = $1 AND fence = sorted.fence FOR UPDATE
  ) AS lane
)`;
