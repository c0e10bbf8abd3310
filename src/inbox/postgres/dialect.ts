import { dropEvents, dropStates, type SweepPhase } from "../sql/retention.ts";
import { type Dialect, query } from "../sql/store.ts";

/** Events that have ended, by index: an index that more rows are in would make every ending dearer. */
const ended = {
  whole: "event.state IN ('done', 'discarded') AND event.body IS NOT NULL",
  bare: "event.state IN ('done', 'discarded') AND event.body IS NULL",
  dead: "event.state = 'dead'",
} as const;

const done = (index: string) => `${index} AND event.state = 'done'`;

/** The words of PostgreSQL, and the indexes of its schema. */
export const dialect: Dialect = {
  locksRows: true,
  lockText: "SELECT pg_advisory_xact_lock(1936876644, hashtext($1))",
  hasTable:
    "SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('{schema}') AND relname = $1",
  isAnyOf: (column, list) => `${column} = ANY (${list}::text[])`,
  position: (part, text) => `strpos(${text}, ${part})`,
  indexes: {
    pending: ["event.state = 'pending'"],
    done: [done(ended.whole), done(ended.bare)],
    dead: [ended.dead],
    discarded: ["event.state = 'discarded'"],
    ended: Object.values(ended),
  },
  pending:
    "SELECT count(*) AS n, min(received_at) AS at FROM {schema}.event WHERE state = 'pending'",
};

/** Lanes of one transaction. */
const BATCH = 500;

/** The fences of a lane begin anew when it is made again, so it stays until no claim can be left of it. */
const FORGET_LANES = `
WITH old AS MATERIALIZED (
  SELECT key FROM {schema}.lane
  WHERE ready_at IS NULL AND pending = 0 AND owner IS NULL AND done_at < {now} - $1::bigint
  ORDER BY done_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
)
DELETE FROM {schema}.lane USING old WHERE lane.key = old.key RETURNING lane.key`;

/** Drops events, and lanes in which nothing has happened since. The server reuses the space by itself. */
export function sweepPhases(): SweepPhase[] {
  return [
    dropEvents(dialect, {
      where: ended.whole,
      minAge: ({ bodiesMs, idsMs }) => Math.min(bodiesMs, idsMs),
    }),
    dropEvents(dialect, { where: ended.bare, minAge: ({ idsMs }) => idsMs }),
    dropEvents(dialect, { where: ended.dead, minAge: ({ deadLettersMs }) => deadLettersMs }),
    forgetLanes,
    dropStates(),
  ];
}

const forgetLanes: SweepPhase = function* ({ idsMs }) {
  const age = Math.trunc(Math.min(idsMs, Number.MAX_SAFE_INTEGER));
  return (yield* query(FORGET_LANES, age)).length === BATCH;
};
