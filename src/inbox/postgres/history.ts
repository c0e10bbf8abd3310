import { type AttemptRow, toAttempt } from "../event-rows.ts";
import { KEPT_RUNS } from "../limits.ts";
import type { AttemptRecord } from "../records.ts";
import type { Queries } from "./database.ts";

/** Part of a claim: notes the runs of `head` that have ended without a word. */
export const ADD_CRASHES = `
  INSERT INTO {schema}.attempt (event_id, fence, number, outcome, ended_at)
  SELECT id, fence, attempts + uncounted, 'crashed', {now} FROM head WHERE lapsed = 1
  ON CONFLICT (event_id, fence) DO NOTHING`;

/**
 * Part of an ending: notes the runs of a table with `id`, `fence`, `attempt` and `error`, and drops the
 * oldest ones before them. What is noted is not yet seen by what drops.
 */
export function addRuns(table: string, outcome: AttemptRecord["outcome"]): string {
  return `noted AS (
  INSERT INTO {schema}.attempt (event_id, fence, number, outcome, error, ended_at)
  SELECT id, fence, attempt, '${outcome}', error, {now} FROM ${table}
  ON CONFLICT (event_id, fence) DO UPDATE SET number = excluded.number, outcome = excluded.outcome,
    error = excluded.error, ended_at = excluded.ended_at
), trimmed AS (
  DELETE FROM {schema}.attempt USING ${table} AS ended CROSS JOIN LATERAL (
    SELECT old.ctid AS old_at FROM {schema}.attempt AS old
    WHERE old.event_id = ended.id AND old.fence <> ended.fence
    ORDER BY old.ended_at DESC, old.fence DESC OFFSET ${KEPT_RUNS - 1}
  ) AS old WHERE attempt.ctid = old.old_at
)`;
}

const OF = `
SELECT number, outcome, error, ended_at FROM {schema}.attempt
WHERE event_id = $1 ORDER BY ended_at, fence`;

/** The runs of an event that did not end well, the oldest first. */
export async function historyOf(queries: Queries, id: string): Promise<AttemptRecord[]> {
  return (await queries.rows<AttemptRow>(OF, [id])).map(toAttempt);
}
