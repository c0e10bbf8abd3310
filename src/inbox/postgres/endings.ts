import type { Advance, Claim } from "../inbox.ts";
import { CRASHES } from "../limits.ts";
import type { Backlog } from "./backlog.ts";
import { type ClaimRow, toClaim } from "./claim-row.ts";
import type { Queries } from "./database.ts";
import { Gather } from "./gather.ts";
import type { Held } from "./held.ts";
import { addRuns } from "./history.ts";
import { is, lockHeld, rowsOf, SORTED } from "./sql.ts";

/**
 * Events that are done, with the next ones of the lanes that go on. A lane that goes on keeps its lease: that changes
 * none of its columns that are in an index, and costs half of letting it go and leasing it again.
 *
 * The statement sees the events as they were when it began, and the lanes as they are when they are locked. What a
 * lane holds is changed together with its row, so a row that has not changed since says that what was seen still
 * holds; one that has is not at the place where the update, which sees it as it was, looks for it, and is not written.
 * Each part hands all that it knows to the next one: to join what two parts found would take the square of their
 * sizes.
 */
const COMPLETE = `
WITH input AS (
  ${rowsOf({ lane: "text", fence: "bigint", id: "text", attempt: "integer", goes_on: "boolean" })}
), ${SORTED}, seen AS MATERIALIZED (
  SELECT sorted.*, held.*, next.* FROM sorted CROSS JOIN LATERAL (
    SELECT lane.ctid AS lane_at, lane.ready_at > {now} AS leased, event.ctid AS event_at,
      greatest(lane.done_ord, event.ord) AS last_ord
    FROM {schema}.lane CROSS JOIN {schema}.event
    WHERE lane.key = sorted.lane AND lane.owner = $1 AND lane.fence = sorted.fence AND event.id = sorted.id
    FOR UPDATE OF lane
  ) AS held LEFT JOIN LATERAL (
    SELECT head.* FROM (
      SELECT seq AS next_seq, id AS next_id, ord AS next_ord, type, body, source, received_at, trace, attempts, crashes
      FROM {schema}.event WHERE lane = sorted.lane AND state = 'pending' AND id <> sorted.id
      ORDER BY ord, seq LIMIT 1
    ) AS head
    WHERE sorted.goes_on AND held.leased AND head.crashes < ${CRASHES}
  ) AS next ON true
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, done_ord = seen.last_ord,
    fence = lane.fence + ${is("seen.next_seq IS NOT NULL")},
    claimed = coalesce(seen.next_seq, lane.claimed),
    owner = CASE WHEN seen.next_seq IS NOT NULL THEN lane.owner END,
    done_at = CASE WHEN seen.next_seq IS NOT NULL THEN lane.done_at ELSE {now} END,
    ready_at = CASE WHEN seen.next_seq IS NOT NULL THEN lane.ready_at WHEN lane.pending > 1 THEN {now} END
  FROM seen WHERE lane.ctid = seen.lane_at
  RETURNING seen.*
), ended AS (
  UPDATE {schema}.event SET state = 'done', done_at = {now}, error = NULL, attempts = advanced.attempt,
    fence = advanced.fence
  FROM advanced WHERE event.ctid = advanced.event_at
)
SELECT n, next_id AS id, type, body, source, received_at, trace, attempts + 1 AS attempts, crashes,
  coalesce(next_ord < last_ord, false) AS late
FROM advanced`;

/** The same for lanes that change meanwhile, and for what goes to the dead letters: the lanes are let go. */
const END = `
WITH input AS (
  ${rowsOf({ lane: "text", fence: "bigint", id: "text", attempt: "integer", error: "text" })}
), ${lockHeld("done_ord")}, ended AS (
  UPDATE {schema}.event SET done_at = {now}, error = held.error, attempts = held.attempt, fence = held.fence,
    state = CASE WHEN held.error IS NULL THEN 'done' ELSE 'dead' END
  FROM held WHERE event.id = held.id
  RETURNING held.n, held.id, held.fence, held.attempt, held.error, event.lane,
    greatest(held.done_ord, event.ord) AS last_ord
), advanced AS (
  UPDATE {schema}.lane SET pending = lane.pending - 1, owner = NULL, done_at = {now}, done_ord = ended.last_ord,
    ready_at = CASE WHEN lane.pending > 1 THEN {now} END
  FROM ended WHERE lane.key = ended.lane
), buried AS (
  SELECT * FROM ended WHERE error IS NOT NULL
), ${addRuns("buried", "dead")}
SELECT n FROM ended`;

/** So many outcomes are written by one statement at most. */
const MOST = 1_000;

interface Ending {
  readonly claim: Claim;
  readonly error: string | undefined;
  /** Whether the lane goes on with its next event. */
  readonly goesOn: boolean;
}

/** Of the ending that was the `n`th, from 1 up; with the next event of its lane, where it goes on. */
type DoneRow = { readonly n: number } & (NextRow | { readonly id: null });

type NextRow = Omit<ClaimRow, "key" | "fence">;

const LOST: Advance = { held: false };

export interface EndingsOptions {
  readonly queries: Queries;
  readonly owner: string;
  readonly held: Held;
  readonly backlog: Backlog;
  /** Told once of all the lanes that were let go together, or may have been. */
  readonly onLetGo: () => void;
}

/** Writes down what events ended with, many by one statement. */
export class Endings {
  readonly #queries: Queries;
  readonly #owner: string;
  readonly #held: Held;
  readonly #backlog: Backlog;
  readonly #onLetGo: () => void;
  readonly #gather: Gather<Ending, Advance>;

  constructor({ queries, owner, held, backlog, onLetGo }: EndingsOptions) {
    this.#queries = queries;
    this.#owner = owner;
    this.#held = held;
    this.#backlog = backlog;
    this.#onLetGo = onLetGo;
    this.#gather = new Gather((endings) => this.#write(endings), MOST);
  }

  /** Ends the event as done, or as dead when there is an error, and lets the lane go. */
  async end(claim: Claim, error?: string): Promise<boolean> {
    return (await this.#gather.add({ claim, error, goesOn: false })).held;
  }

  /** Ends the event as done, and goes on with the next one of the lane. */
  advance(claim: Claim): Promise<Advance> {
    return this.#gather.add({ claim, error: undefined, goesOn: true });
  }

  /** What is told about each event is told for all of them here: it would cost a promise each. */
  async #write(endings: readonly Ending[]): Promise<Advance[]> {
    await this.#held.settled();
    for (const { claim } of endings) this.#held.beginAdvance(claim);
    try {
      const written = await this.#backlog.watch(this.#writeAll(endings));
      for (const [nth, { claim }] of endings.entries()) this.#held.endAdvance(claim, written[nth]);
      this.#backlog.add(-written.filter(({ held }) => held).length);
      if (written.some(({ held, next }) => held && next === undefined)) this.#onLetGo();
      return written;
    } catch (error) {
      // Where one of the statements failed, what another has done is not known either.
      for (const { claim } of endings) this.#held.endAdvance(claim, undefined);
      throw error;
    }
  }

  async #writeAll(endings: readonly Ending[]): Promise<Advance[]> {
    const outcomes = new Map<Ending, Advance>();
    const done = endings.filter(({ error }) => error === undefined);
    await this.#complete(done, outcomes);
    const others = endings.filter((ending) => !outcomes.has(ending));
    await this.#end(others, outcomes);
    return endings.map((ending) => outcomes.get(ending) ?? LOST);
  }

  async #complete(endings: readonly Ending[], outcomes: Map<Ending, Advance>): Promise<void> {
    if (endings.length === 0) return;
    const goesOn = endings.map((ending) => ending.goesOn);
    const values = [...this.#columns(endings), goesOn];
    for (const row of await this.#queries.rows<DoneRow>(COMPLETE, values)) {
      const ending = endings[row.n - 1];
      if (ending === undefined) continue;
      outcomes.set(ending, { held: true, next: row.id === null ? undefined : next(ending, row) });
    }
  }

  async #end(endings: readonly Ending[], outcomes: Map<Ending, Advance>): Promise<void> {
    if (endings.length === 0) return;
    const errors = endings.map(({ error }) => error ?? null);
    const values = [...this.#columns(endings), errors];
    for (const { n } of await this.#queries.rows<{ readonly n: number }>(END, values)) {
      const ending = endings[n - 1];
      if (ending !== undefined) outcomes.set(ending, { held: true });
    }
  }

  #columns(endings: readonly Ending[]): unknown[] {
    return [
      this.#owner,
      endings.map(({ claim }) => claim.lane),
      endings.map(({ claim }) => claim.fence),
      endings.map(({ claim }) => claim.id),
      endings.map(({ claim }) => claim.attempt),
    ];
  }
}

function next({ claim: { lane, fence } }: Ending, row: NextRow): Claim {
  return toClaim({ key: lane, fence: fence + 1, ...row });
}
