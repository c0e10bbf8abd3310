/** Parts of statements. */

import type { InboxFilter } from "../admin.ts";
import { lists, valuesOf } from "../event-rows.ts";

/** What fits a condition, in two parts: with a body, and without. */
export const byBody = (where: string): { readonly whole: string; readonly bare: string } => ({
  whole: `${where} AND event.body IS NOT NULL`,
  bare: `${where} AND event.body IS NULL`,
});

const { whole, bare } = byBody("event.state IN ('done', 'discarded')");

/** The events that have ended, in three parts, as the indexes event_whole, event_bare and event_parked have them. */
export const ended: { readonly whole: string; readonly bare: string; readonly dead: string } = {
  whole,
  bare,
  dead: lists.dead.where,
};

/** 1 where the condition holds, else 0. */
export const is = (condition: string): string => `coalesce(${condition}, false)::integer`;

/**
 * Rows out of lists, which are given as parameters from `$2` on, with their number `n` from 1 up. The planner is
 * kept from seeing how long they are, and takes them for a few rows: for some hundred it would read whole tables,
 * as long as these are small, where looking each row up is a tenth of the work.
 *
 * @param columns the name of each column, with its type
 */
export function rowsOf(columns: Readonly<Record<string, string>>): string {
  const lists = Object.values(columns).map((type, nth) => `(SELECT $${nth + 2}::${type}[])`);
  const names = [...Object.keys(columns), "n"].join(", ");
  return `SELECT * FROM unnest(${lists.join(", ")}) WITH ORDINALITY AS input (${names}) WHERE n > 0`;
}

/**
 * Whoever writes several lanes takes them in the order of their keys, so that two never wait for each other.
 * Of what is given twice the first comes first.
 */
export const SORTED = 'sorted AS MATERIALIZED (SELECT * FROM input ORDER BY lane COLLATE "C", n)';

/**
 * The lanes of several claims, as far as their leases hold, locked, and each as it is then: a batch may have come
 * in meanwhile.
 *
 * @param columns of the lane, besides those of the input
 */
export const lockHeld = (columns: string): string => `${SORTED}, held AS MATERIALIZED (
  SELECT sorted.*, lane.* FROM sorted CROSS JOIN LATERAL (
    SELECT ${columns} FROM {schema}.lane
    WHERE key = sorted.lane AND owner = $1 AND fence = sorted.fence FOR UPDATE
  ) AS lane
)`;

/** What a filter asks for, but for the times: `$1` to `$5`. Errors begin with their name and their code; see the dispatcher. */
export const FITS = `($1::text IS NULL OR event.type = $1) AND ($2::text IS NULL OR event.lane = $2)
  AND ($3::text IS NULL OR event.source = $3)
  AND ($4::text IS NULL OR strpos(event.error, $4) > 0)
  AND ($5::text IS NULL OR strpos(left(event.error, strpos(event.error, ': ')), ' ' || $5 || ':') > 0)`;

/** The values of {@link FITS}. */
export function fitting(filter: InboxFilter): readonly (string | null)[] {
  const { type, lane, source, error, code } = valuesOf(filter);
  return [type, lane, source, error, code];
}
