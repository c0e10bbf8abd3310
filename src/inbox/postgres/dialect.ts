import { dropEvents, dropStates, type SweepPhase } from "../sql/retention.ts";
import { type Dialect, query } from "../sql/store.ts";

/**
 * Conditions of the indexes on ended events. Each index stays small, because more rows would make ending an event more
 * expensive.
 */
const ended = {
  whole: "event.state IN ('done', 'discarded') AND event.body IS NOT NULL",
  bare: "event.state IN ('done', 'discarded') AND event.body IS NULL",
  dead: "event.state = 'dead'",
} as const;

const done = (index: string) => `${index} AND event.state = 'done'`;

/** PostgreSQL dialect, with the indexes of the PostgreSQL schema. */
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

/** Maximum number of lanes per transaction. */
const BATCH = 500;

/** Deletes idle lanes. A recreated lane starts over with fence 0, so a lane is kept until no claim on it can exist. */
const FORGET_LANES = `
WITH old AS MATERIALIZED (
  SELECT key FROM {schema}.lane
  WHERE ready_at IS NULL AND pending = 0 AND owner IS NULL AND done_at < {now} - $1::bigint
  ORDER BY done_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
)
DELETE FROM {schema}.lane USING old WHERE lane.key = old.key RETURNING lane.key`;

/** Returns the phases that delete expired events and idle lanes. The server reuses the space on its own. */
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
