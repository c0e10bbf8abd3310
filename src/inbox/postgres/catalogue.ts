import type { InboxListOptions, InboxPage } from "../admin.ts";
import {
  lists,
  type PageRow,
  pageSize,
  placeOf,
  type StepRow,
  toDetails,
  toPage,
  type WholeRow,
} from "../event-rows.ts";
import type { EventDetails, EventState } from "../records.ts";
import type { Queries } from "./database.ts";
import { historyOf } from "./history.ts";

/** A run that has not ended is not among the attempts of its event yet, and belongs to them all the same. */
const EVENT = `event.seq, event.id, event.type, event.lane, event.state, event.source,
  event.attempts + coalesce(event.state = 'pending' AND lane.owner IS NOT NULL
    AND lane.claimed = event.seq, false)::integer AS attempts,
  event.received_at, event.done_at, event.error, event.reason,
  event.state = 'pending' AND lane.owner IS NOT NULL AND lane.claimed = event.seq
    AND lane.ready_at > {now} AS leased
FROM {schema}.event LEFT JOIN {schema}.lane ON lane.key = event.lane`;

/** A page of what fits a condition, as an index of it gives it. */
function part(at: string, where: string): string {
  return `SELECT ${at} AS at, ${EVENT} WHERE ${where}
    AND ($1::text IS NULL OR event.type = $1) AND ($2::text IS NULL OR event.lane = $2)
    AND (${at}, event.seq) < ($3::bigint, $4::bigint)
    ORDER BY ${at} DESC, event.seq DESC LIMIT $5`;
}

function pageOf(state: EventState): string {
  const { where, at } = lists[state];
  if (state !== "done") return part(at, where);
  // What still has a body and what has none are in different indexes.
  const parts = ["NOT NULL", "NULL"].map((body) => part(at, `${where} AND event.body IS ${body}`));
  return `(${parts.join(") UNION ALL (")}) ORDER BY at DESC, seq DESC LIMIT $5`;
}

/** The events that have come between two places, the newest first. */
const ARRIVED = `SELECT event.seq AS at, ${EVENT} WHERE event.seq < $3::bigint AND event.seq >= $4::bigint
  AND ($1::text IS NULL OR event.type = $1) AND ($2::text IS NULL OR event.lane = $2)
  ORDER BY event.seq DESC LIMIT $5`;

const LAST = "SELECT last_value AS seq FROM {schema}.event_seq_seq";

/** So many places are looked through first, and four times as many each time that it was not enough. */
const SPAN = 10_000;

const ONE = `SELECT event.body, ${EVENT} WHERE event.id = $1`;

const STEPS = `
SELECT name, state, request, result, ref, started_at AS "startedAt"
FROM {schema}.step WHERE event_id = $1 ORDER BY started_at, name`;

/** Finds events for people to look at. */
export class Catalogue {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  async list({ state, type, lane, limit, after }: InboxListOptions): Promise<InboxPage> {
    const size = pageSize(limit);
    const { at, seq } = placeOf(after);
    // One more than asked for tells whether there are more.
    const filter = [type ?? null, lane ?? null];
    if (state === undefined) return toPage(await this.#newest(filter, seq, size + 1), size);
    const values = [...filter, at, seq, size + 1];
    return toPage(await this.#queries.rows<PageRow>(pageOf(state), values), size);
  }

  /** No index sorts all events; one tells where those of a stretch are. */
  async #newest(filter: readonly unknown[], before: number, size: number): Promise<PageRow[]> {
    const [last] = await this.#queries.rows<{ readonly seq: number }>(LAST);
    const rows: PageRow[] = [];
    let end = Math.min(before, (last?.seq ?? 0) + 1);
    for (let span = SPAN; end > 0 && rows.length < size; span *= 4) {
      const begin = Math.max(0, end - span);
      const values = [...filter, end, begin, size - rows.length];
      rows.push(...(await this.#queries.rows<PageRow>(ARRIVED, values)));
      end = begin;
    }
    return rows;
  }

  async show(id: string): Promise<EventDetails | undefined> {
    const [row] = await this.#queries.rows<WholeRow>(ONE, [id]);
    if (row === undefined) return undefined;
    const steps = await this.#queries.rows<StepRow>(STEPS, [id]);
    return toDetails(row, await historyOf(this.#queries, id), steps);
  }
}
