import { dropEvents, type SweepPhase } from "../sql/retention.ts";
import { query } from "../sql/store.ts";
import { dialect, ended } from "./store.ts";

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
  ];
}

const forgetLanes: SweepPhase = function* ({ idsMs }) {
  const age = Math.trunc(Math.min(idsMs, Number.MAX_SAFE_INTEGER));
  return (yield* query(FORGET_LANES, age)).length === BATCH;
};
