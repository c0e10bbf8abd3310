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

const isAnyOf = (column: string, list: string) => `${column} = ANY (${list}::text[])`;

const CLAIMED = "lane.owner IS NOT NULL AND lane.claimed = event.seq";

/** PostgreSQL dialect, with the indexes of the PostgreSQL schema. */
export const dialect: Dialect = {
  locksRows: true,
  lockText: "SELECT pg_advisory_xact_lock(1936876644, hashtext($1))",
  hasTable:
    "SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('{schema}') AND relname = $1",
  held: "FROM {schema}.lane WHERE key = $1 AND owner = $2 AND fence = $3",
  isClaimed: CLAIMED,
  isLeased: `${CLAIMED} AND lane.ready_at > {now}`,
  waitEnds: "CASE WHEN lane.owner IS NULL THEN lane.ready_at END",
  runningId: `CASE WHEN lane.owner IS NOT NULL AND lane.ready_at > {now} THEN (
    SELECT running.id FROM {schema}.event AS running
    WHERE running.lane = event.lane AND running.state = 'pending' AND running.seq = lane.claimed LIMIT 1) END`,
  begunAt: "lane.begun_at",
  instance: "lane.owner",
  hurryLanes: `UPDATE {schema}.lane SET ready_at = 0
    WHERE ${isAnyOf("key", "$1")} AND owner IS NULL AND ready_at > {now}`,
  leaseEnds: "",
  isLaneLeased: "lane.owner IS NOT NULL AND lane.ready_at > {now}",
  // A lease is kept.
  enterLanes: `
      INSERT INTO {schema}.lane (key, pending, ready_at, fence)
      SELECT lane, count(*), 0, max(fence) FROM {schema}.event WHERE ${isAnyOf("id", "$1")} GROUP BY lane ORDER BY lane
      ON CONFLICT (key) DO UPDATE SET pending = lane.pending + excluded.pending,
        fence = CASE WHEN lane.owner IS NULL AND lane.fence < excluded.fence THEN excluded.fence ELSE lane.fence END,
        ready_at = CASE WHEN lane.owner IS NULL AND ${isAnyOf("lane.key", "$2")} THEN 0
                        ELSE coalesce(lane.ready_at, 0) END`,
  // A run with an expired lease may still be active. Without an owner, its claim is void.
  leaveLanes: `
      UPDATE {schema}.lane SET pending = lane.pending - gone.n, done_at = coalesce(lane.done_at, {now}),
        owner = CASE WHEN ${isAnyOf("lane.key", "$2")} THEN NULL ELSE lane.owner END,
        ready_at = CASE WHEN lane.owner IS NOT NULL AND NOT ${isAnyOf("lane.key", "$2")} THEN lane.ready_at
                        WHEN lane.pending <= gone.n THEN NULL
                        WHEN ${isAnyOf("lane.key", "$3")} THEN 0
                        ELSE lane.ready_at END
      FROM (SELECT lane, count(*) AS n FROM {schema}.event WHERE ${isAnyOf("id", "$1")} GROUP BY lane) AS gone
      WHERE lane.key = gone.lane`,
  isAnyOf,
  position: (part, text) => `strpos(${text}, ${part})`,
  indexes: {
    pending: ["event.state = 'pending'"],
    done: [done(ended.whole), done(ended.bare)],
    dead: [ended.dead],
    discarded: ["event.state = 'discarded'"],
    ended: Object.values(ended),
  },
  // Finds the last delivery of a killed process, from its last heartbeat and from the notes to the other instances.
  deliveries: `SELECT delivered_at AS at FROM {schema}.instance UNION ALL SELECT at FROM {schema}.delivery`,
  pending:
    "SELECT count(*) AS n, min(received_at) AS at FROM {schema}.event WHERE state = 'pending'",
};

/** Maximum number of lanes per transaction. */
const BATCH = 500;

/**
 * Deletes idle lanes. A recreated lane starts over with fence 0, so a lane is kept until no claim on it can exist.
 * `done_at` does not show when a late event ended.
 */
const FORGET_LANES = `
WITH old AS MATERIALIZED (
  SELECT key FROM {schema}.lane
  WHERE ready_at IS NULL AND pending = 0 AND owner IS NULL AND done_at < {now} - $1::bigint
    AND coalesce(begun_at, 0) < {now} - $1::bigint
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
