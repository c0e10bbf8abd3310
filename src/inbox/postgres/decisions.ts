import { ServiceBotError } from "../../errors.ts";
import type { InboxRetryFilter, InboxRetryOptions } from "../admin.ts";
import { lists, valuesOf } from "../event-rows.ts";
import { judgeDiscard, judgeRetry, NOT_FOUND, type Outcome } from "../outcome.ts";
import type { EventState } from "../records.ts";
import { ABSENT } from "../restored.ts";
import type { Database, Queries } from "./database.ts";
import { REMAKE } from "./lanes.ts";
import { FITS, fitting } from "./sql.ts";
import { MARK_ABSENT } from "./steps.ts";

/** In the order of the keys, as everybody does it who locks several. */
const LOCK = `
SELECT lane.key FROM {schema}.lane
WHERE lane.key IN (SELECT lane FROM {schema}.event WHERE id = ANY ($1::text[]))
ORDER BY lane.key FOR UPDATE`;

/**
 * Seen once the lanes are locked, so that it stays as it is: what a lane holds is changed under its lock alone. What
 * has ended is dropped without its lane, which may be gone as well; so the events are locked, too.
 */
const FIND = `
SELECT event.id, event.lane, event.state, event.fence, event.body IS NOT NULL AS has_body,
  event.state = 'pending' OR lane.key IS NOT NULL AS has_lane,
  lane.owner IS NOT NULL AND lane.claimed = event.seq AS held,
  lane.owner IS NOT NULL AND lane.claimed = event.seq AND lane.ready_at > {now} AS leased,
  NOT EXISTS (
    SELECT FROM {schema}.event AS other WHERE other.lane = event.lane AND other.state = 'pending'
      AND (other.ord, other.seq) < (event.ord, event.seq)) AS first
FROM {schema}.event LEFT JOIN {schema}.lane ON lane.key = event.lane WHERE event.id = ANY ($1::text[])
ORDER BY event.id FOR UPDATE OF event`;

/** The fence of an earlier claim must not be taken for that of a claim to come. */
const REVIVE = `
UPDATE {schema}.event SET state = 'pending', attempts = 0, crashes = 0, fence = 0, done_at = NULL
WHERE id = ANY ($1::text[])`;

/**
 * A lease is left alone. A wait is cut short for an event that comes first, not for one behind it. A lane
 * may have been made anew since: its fences go on after those in the history of the event.
 */
const ENTER_LANES = `
INSERT INTO {schema}.lane (key, pending, ready_at, fence)
SELECT lane, count(*), 0, max(fence)
FROM unnest($1::text[], $2::boolean[], $3::bigint[]) AS revived (lane, first, fence)
GROUP BY lane ORDER BY lane COLLATE "C"
ON CONFLICT (key) DO UPDATE SET pending = lane.pending + excluded.pending,
  fence = CASE WHEN lane.owner IS NULL THEN greatest(lane.fence, excluded.fence) ELSE lane.fence END,
  ready_at = CASE WHEN lane.owner IS NULL AND lane.key = ANY ($4::text[]) THEN 0
                  ELSE coalesce(lane.ready_at, 0) END`;

/** The attempt of a run whose lease ran out is not counted yet. */
const DISCARD = `
UPDATE {schema}.event SET state = 'discarded', done_at = {now}, reason = $2,
  attempts = attempts + CASE WHEN id = ANY ($3::text[]) THEN 1 ELSE 0 END
WHERE id = ANY ($1::text[])`;

/**
 * A run whose lease ran out may still be at work: without an owner, its claim is good for nothing. What
 * waited for the event that is gone need not wait any more.
 */
const LEAVE_LANES = `
UPDATE {schema}.lane SET pending = lane.pending - gone.n, done_at = {now},
  owner = CASE WHEN gone.held THEN NULL ELSE lane.owner END,
  ready_at = CASE WHEN lane.owner IS NOT NULL AND NOT gone.held THEN lane.ready_at
                  WHEN lane.pending <= gone.n THEN NULL
                  WHEN gone.first THEN 0
                  ELSE lane.ready_at END
FROM (SELECT lane, count(*) AS n, bool_or(held) AS held, bool_or(first) AS first
  FROM unnest($1::text[], $2::boolean[], $3::boolean[]) AS left_lane (lane, held, first)
  GROUP BY lane) AS gone
WHERE lane.key = gone.lane`;

const SETTLE_STEPS = `
UPDATE {schema}.step SET state = 'done', result = NULL
WHERE event_id = ANY ($1::text[]) AND state = 'open' AND fence <> ${ABSENT}`;

const DROP_STEPS = `${MARK_ABSENT} AND event_id = ANY ($1::text[])`;

const targets = ({ where, at }: (typeof lists)["dead"]) => `
SELECT id FROM {schema}.event WHERE ${where} AND ${FITS} AND ${at} >= $6::bigint AND ${at} < $7::bigint
ORDER BY ${at}, seq LIMIT $8::bigint`;

const TARGETS = { dead: targets(lists.dead), pending: targets(lists.pending) };

interface EventRow {
  readonly id: string;
  readonly lane: string;
  readonly state: EventState;
  readonly fence: number;
  readonly has_body: boolean;
  /** Whether its lane is there; that of a pending event always is. */
  readonly has_lane: boolean;
  /** Whether its lane's last claim was of this event and has not been given back. */
  readonly held: boolean | null;
  /** Whether that claim's lease still runs. */
  readonly leased: boolean | null;
  /** Whether nothing pending comes before it in its lane. */
  readonly first: boolean;
}

/** So often it is tried again because a lane came into being meanwhile. */
const TRIES = 10;

type Judge = (event: EventRow) => Outcome;
type CarryOut = (queries: Queries, events: readonly EventRow[]) => Promise<void>;

/** What people decide about events. */
export class Decisions {
  readonly #database: Pick<Database, "rows" | "transaction">;

  constructor(database: Pick<Database, "rows" | "transaction">) {
    this.#database = database;
  }

  /** The ids of the events that a filter means, the oldest first. */
  async targets(
    state: "dead" | "pending",
    { limit, ...filter }: InboxRetryFilter,
  ): Promise<string[]> {
    const { since, until } = valuesOf(filter);
    // Without a value there is no limit.
    const most = limit === undefined ? null : Math.trunc(limit);
    const values = [...fitting(filter), since, until, most];
    const rows = await this.#database.rows<{ readonly id: string }>(TARGETS[state], values);
    return rows.map(({ id }) => id);
  }

  retry(ids: readonly string[], assume: InboxRetryOptions["assume"]): Promise<Outcome[]> {
    return this.#decide(ids, judgeRetry, async (queries, events) => {
      const revived = events.map(({ id }) => id);
      await queries.rows(REVIVE, [revived]);
      await queries.rows(ENTER_LANES, [
        events.map(({ lane }) => lane),
        events.map(({ first }) => first),
        events.map(({ fence }) => fence),
        events.filter(({ first }) => first).map(({ lane }) => lane),
      ]);
      if (assume === "done") await queries.rows(SETTLE_STEPS, [revived]);
      if (assume === "absent") await queries.rows(DROP_STEPS, [revived]);
    });
  }

  discard(ids: readonly string[], reason: string): Promise<Outcome[]> {
    return this.#decide(ids, judgeDiscard, async (queries, events) => {
      const idsOf = (some: readonly EventRow[]) => some.map(({ id }) => id);
      const pending = events.filter(({ state }) => state === "pending");
      const held = pending.filter((event) => event.held);
      await queries.rows(DISCARD, [idsOf(events), reason, idsOf(held)]);
      await queries.rows(LEAVE_LANES, [
        pending.map(({ lane }) => lane),
        pending.map(({ held }) => held ?? false),
        pending.map(({ first }) => first),
      ]);
    });
  }

  /** Carries out what is not refused, in one transaction. One outcome for each id, in their order. */
  async #decide(ids: readonly string[], judge: Judge, carryOut: CarryOut): Promise<Outcome[]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const outcomes = await this.#decideOnce(ids, judge, carryOut);
      if ("outcomes" in outcomes) return outcomes.outcomes;
      // One that did not come into being is missing.
      await this.#database.rows(REMAKE, [outcomes.unlocked]);
    }
    throw new ServiceBotError(
      "STORE_UNAVAILABLE",
      `The lanes of these events change all the time: nothing was decided in ${TRIES} tries. Try again.`,
    );
  }

  /** Nothing is done when a lane came into being meanwhile, or is missing: it is not locked. */
  #decideOnce(
    ids: readonly string[],
    judge: Judge,
    carryOut: CarryOut,
  ): Promise<{ readonly outcomes: Outcome[] } | { readonly unlocked: string[] }> {
    return this.#database.transaction(async (queries) => {
      const lanes = await queries.rows<{ readonly key: string }>(LOCK, [ids]);
      const locked = new Set(lanes.map(({ key }) => key));
      const found = await queries.rows<EventRow>(FIND, [ids]);
      const unlocked = found.filter(({ lane, has_lane }) => has_lane && !locked.has(lane));
      if (unlocked.length > 0) return { unlocked: unlocked.map(({ lane }) => lane) };
      const outcomes = new Map(found.map((event) => [event.id, judge(event)]));
      const chosen = found.filter(({ id }) => !("refused" in (outcomes.get(id) ?? NOT_FOUND)));
      if (chosen.length > 0) await carryOut(queries, chosen);
      return { outcomes: ids.map((id) => outcomes.get(id) ?? NOT_FOUND) };
    });
  }
}
