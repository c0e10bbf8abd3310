import { type ErrorCode, ServiceBotError } from "../../errors.ts";
import type { InboxDecisionFilter, InboxRetryOptions } from "../admin.ts";
import type { EventState } from "../event-records.ts";
import { ABSENT } from "../restore-mark.ts";
import { fieldsOf, fits, timeOf, timesOf } from "./events.ts";
import { type Dialect, query, type Script, type SqlStore } from "./store.ts";

export type Refusal =
  | "not-found"
  | "not-retryable"
  | "not-dead"
  | "body-dropped"
  | "leased"
  | "ended";

/** Change in the number of pending events, or the reason why the event was not changed. */
export type DecisionOutcome = { readonly pending: -1 | 0 | 1 } | { readonly refused: Refusal };

const NOT_FOUND: DecisionOutcome = { refused: "not-found" };

/** An event and its lane before a decision. Conditions are 0 or 1. */
interface EventRow {
  readonly id: string;
  readonly lane: string;
  readonly state: EventState;
  readonly has_body: number;
  /** 1 if the lane must be locked. An ended event may no longer have a lane. */
  readonly has_lane: number;
  /** 1 if the lane's last claim took this event and has not ended. */
  readonly claimed: number;
  /** 1 if that claim's lease is still valid. */
  readonly leased: number;
  /** 1 if this event is the first pending event in its lane. */
  readonly first: number;
}

/** Maximum number of tries if lanes are created concurrently. */
const MAX_TRIES = 10;

/** A kind of decision. It judges one event at a time and writes the changes for all accepted events. */
interface Decision {
  decideOutcome(event: EventRow): DecisionOutcome;
  carryOut(events: readonly EventRow[]): Script<void>;
}

const is = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;

/**
 * Recreates missing lanes of pending events, for example after an operator's DELETE. The lanes' fences continue after
 * the events' fences.
 *
 * @param where further conditions on the events
 */
export const remakeLanes = (where: string): string => `
INSERT INTO {schema}.lane (key, pending, ready_at, fence)
SELECT event.lane, count(*), {now}, max(event.fence) + 1 FROM {schema}.event
WHERE state = 'pending' ${where}
  AND NOT EXISTS (SELECT 1 FROM {schema}.lane WHERE lane.key = event.lane)
GROUP BY event.lane ORDER BY event.lane
ON CONFLICT (key) DO NOTHING`;

const statementsIn = (dialect: Dialect) => {
  const { isAnyOf, locksRows } = dialect;
  const lock = (clause: string) => (locksRows ? clause : "");
  const given = (column: string) => isAnyOf(column, "$1");
  const targets = (state: "dead" | "pending") => `
    SELECT id FROM {schema}.event WHERE ${dialect.indexes[state].join(" OR ")} AND ${fits(dialect)}
      AND ${timeOf(state)} >= $8 AND ${timeOf(state)} < $9 ORDER BY ${timeOf(state)}, seq LIMIT $10`;
  return {
    targets: { dead: targets("dead"), pending: targets("pending") },
    // Lock in key order, as every transaction does.
    lockLanes: `
      SELECT lane.key FROM {schema}.lane
      WHERE lane.key IN (SELECT lane FROM {schema}.event WHERE ${given("id")})
      ORDER BY lane.key ${lock("FOR UPDATE")}`,
    // A lane changes only under its lock. Ended events are deleted without locking their lane, so lock events too.
    find: `
      SELECT event.id, event.lane, event.state, ${is("event.body IS NOT NULL")} AS has_body,
        ${is("event.state = 'pending' OR lane.key IS NOT NULL")} AS has_lane,
        ${is(dialect.isClaimed)} AS claimed, ${is(dialect.isLeased)} AS leased,
        ${is(`NOT EXISTS (
          SELECT 1 FROM {schema}.event AS other WHERE other.lane = event.lane AND other.state = 'pending'
            AND (other.ord, other.seq) < (event.ord, event.seq))`)} AS first
      FROM {schema}.event LEFT JOIN {schema}.lane ON lane.key = event.lane WHERE ${given("event.id")}
      ORDER BY event.id ${lock("FOR UPDATE OF event")}`,
    remakeLanes: remakeLanes(`AND ${given("event.lane")}`),
    // Runs before `revive`, which resets the events' fences, so that the fence of even a new lane continues after them.
    // If the event comes first in its lane, the lane no longer waits. Its time becomes 0, which is due on every clock,
    // because this process and the bot may have different clocks.
    enterLanes: dialect.enterLanes,
    hurry: dialect.hurryLanes,
    // A lane's fence continues in `enterLanes`, so no two claims have the same fence.
    revive: `
      UPDATE {schema}.event SET state = 'pending', attempts = 0, crashes = 0, fence = 0, done_at = NULL
      WHERE ${given("id")}`,
    // A run with an expired lease has not been counted as an attempt yet, so count it.
    discard: `
      UPDATE {schema}.event SET state = 'discarded', done_at = {now}, reason = $2,
        attempts = attempts + ${is(isAnyOf("id", "$3"))}
      WHERE ${given("id")}`,
    // Events queued behind the discarded event can run now.
    leaveLanes: dialect.leaveLanes,
    settleSteps: {
      done: `
        UPDATE {schema}.step SET state = 'done', result = NULL
        WHERE ${given("event_id")} AND state = 'open' AND fence <> ${ABSENT}`,
      absent: `
        UPDATE {schema}.step SET fence = ${ABSENT} WHERE ${given("event_id")} AND state = 'open'`,
    },
  };
};

export class Decisions {
  readonly #store: SqlStore;
  readonly #statements: ReturnType<typeof statementsIn>;

  constructor(store: SqlStore) {
    this.#store = store;
    this.#statements = statementsIn(store.dialect);
  }

  /** Returns the ids of the events that match a filter, oldest first. */
  async targets(
    state: "dead" | "pending",
    { limit = Number.MAX_SAFE_INTEGER, ...filter }: Omit<InboxDecisionFilter, "state">,
  ): Promise<string[]> {
    const { since, until } = timesOf(filter);
    const values = [
      ...fieldsOf(filter),
      since,
      until,
      Math.min(Math.trunc(limit), Number.MAX_SAFE_INTEGER),
    ];
    const text = this.#statements.targets[state];
    const rows = await this.#store.rows<{ readonly id: string }>(text, values);
    return rows.map(({ id }) => id);
  }

  /** Makes dead letters pending again, and ends the waits of pending events. Returns one outcome per id, in order. */
  retry(ids: readonly string[], assume: InboxRetryOptions["assume"]): Promise<DecisionOutcome[]> {
    const { enterLanes, revive, settleSteps, hurry } = this.#statements;
    return this.#decide(ids, {
      decideOutcome({ state, has_body, leased }) {
        if (state === "pending") {
          // The next run searches for the effects of open steps.
          if (assume !== undefined) return { refused: "not-dead" };
          return leased ? { refused: "leased" } : { pending: 0 };
        }
        if (state !== "dead") return { refused: "not-retryable" };
        return has_body ? { pending: 1 } : { refused: "body-dropped" };
      },
      *carryOut(events) {
        const dead = events.filter(({ state }) => state === "dead");
        const waiting = events.filter(({ state }) => state === "pending");
        if (waiting.length > 0) yield* query(hurry, lanesOf(waiting));
        if (dead.length === 0) return;
        const revived = idsOf(dead);
        yield* query(enterLanes, revived, lanesOf(dead.filter(({ first }) => first)));
        yield* query(revive, revived);
        if (assume !== undefined) yield* query(settleSteps[assume], revived);
      },
    });
  }

  /** Discards events for good. Returns one outcome per id, in order. */
  discard(ids: readonly string[], reason: string): Promise<DecisionOutcome[]> {
    const { discard, leaveLanes } = this.#statements;
    return this.#decide(ids, {
      decideOutcome({ state, leased }) {
        if (state !== "dead" && state !== "pending") return { refused: "ended" };
        if (state === "pending" && leased) return { refused: "leased" };
        return { pending: state === "pending" ? -1 : 0 };
      },
      *carryOut(events) {
        const pending = events.filter(({ state }) => state === "pending");
        const claimed = pending.filter((event) => event.claimed);
        const first = pending.filter((event) => event.first);
        yield* query(discard, idsOf(events), reason, idsOf(claimed));
        yield* query(leaveLanes, idsOf(pending), lanesOf(claimed), lanesOf(first));
      },
    });
  }

  async #decide(ids: readonly string[], decision: Decision): Promise<DecisionOutcome[]> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const decided = await this.#store.run(() => this.#decideOnce(ids, decision));
      if ("outcomes" in decided) return decided.outcomes;
      // A lane that was not created concurrently is missing. Recreate it.
      await this.#store.write(this.#statements.remakeLanes, [decided.unlocked]);
    }
    throw new ServiceBotError(
      "STORE_UNAVAILABLE",
      `The lanes of these events changed during each of ${MAX_TRIES} tries, so no event was changed. Try again.`,
    );
  }

  /**
   * Locks the lanes and decides. If a lane is missing or was created concurrently, it is not locked, so nothing is
   * changed.
   */
  *#decideOnce(
    ids: readonly string[],
    decision: Decision,
  ): Script<{ readonly outcomes: DecisionOutcome[] } | { readonly unlocked: string[] }> {
    const { lockLanes, find } = this.#statements;
    const { locksRows } = this.#store.dialect;
    const locks = locksRows ? yield* query<{ readonly key: string }>(lockLanes, ids) : [];
    const locked = new Set(locks.map(({ key }) => key));
    const found = yield* query<EventRow>(find, ids);
    const unlocked = found.filter(({ lane, has_lane }) => has_lane && !locked.has(lane));
    if (locksRows && unlocked.length > 0) return { unlocked: lanesOf(unlocked) };
    const outcomes = new Map(found.map((event) => [event.id, decision.decideOutcome(event)]));
    const chosen = found.filter(({ id }) => !("refused" in (outcomes.get(id) ?? NOT_FOUND)));
    if (chosen.length > 0) yield* decision.carryOut(chosen);
    return { outcomes: ids.map((id) => outcomes.get(id) ?? NOT_FOUND) };
  }
}

function idsOf(events: readonly EventRow[]): string[] {
  return events.map(({ id }) => id);
}

function lanesOf(events: readonly EventRow[]): string[] {
  return events.map(({ lane }) => lane);
}

const SHOW = "See `npx service-bot inbox show` or bot.inbox.show().";

const refusals: Readonly<Record<Refusal, readonly [ErrorCode, (id: string) => string]>> = {
  "not-found": [
    "EVENT_NOT_FOUND",
    (id) =>
      `There is no event "${id}". Run \`npx service-bot inbox list --state all\` to list the ids.`,
  ],
  "not-retryable": [
    "EVENT_NOT_DEAD",
    (id) =>
      `Event "${id}" is done or discarded; only dead letters and pending events can be retried. ${SHOW}`,
  ],
  "not-dead": [
    "EVENT_NOT_DEAD",
    (id) =>
      `Event "${id}" is pending; its steps can be settled only once it is a dead letter. ${SHOW}`,
  ],
  "body-dropped": [
    "EVENT_BODY_DROPPED",
    (id) =>
      `The content of event "${id}" has been deleted, so the event cannot run again. Discard it with a reason.`,
  ],
  leased: [
    "EVENT_LEASED",
    (id) => `A handler is processing event "${id}". Try again when it has finished.`,
  ],
  ended: ["EVENT_ENDED", (id) => `Event "${id}" is already done or discarded. ${SHOW}`],
};

/** Maximum length of an id in an error message, in characters. No stored id is longer. */
const MAX_ID = 512;

export function decisionError(id: string, why: Refusal): ServiceBotError {
  const [code, message] = refusals[why];
  return new ServiceBotError(code, message(id.slice(0, MAX_ID)));
}
