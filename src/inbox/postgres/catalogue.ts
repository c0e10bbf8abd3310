import type { InboxListOptions, InboxPage } from "../admin.ts";
import {
  lists,
  type PageRow,
  pageSize,
  type StepRow,
  startOf,
  toDetails,
  toPage,
  valuesOf,
  type WholeRow,
} from "../event-rows.ts";
import type { EventDetails, EventState } from "../records.ts";
import { ABSENT } from "../restored.ts";
import type { Queries } from "./database.ts";
import { historyOf } from "./history.ts";
import { byBody, ended, FITS, fitting } from "./sql.ts";

/** A run that has not ended is not among the attempts of its event yet, and belongs to them all the same. */
const EVENT = `event.seq, event.id, event.type, event.lane, event.state, event.source,
  event.attempts + coalesce(event.state = 'pending' AND lane.owner IS NOT NULL
    AND lane.claimed = event.seq, false)::integer AS attempts,
  event.received_at, event.trace, event.done_at, event.error, event.reason,
  event.state = 'pending' AND lane.owner IS NOT NULL AND lane.claimed = event.seq
    AND lane.ready_at > {now} AS leased
FROM {schema}.event LEFT JOIN {schema}.lane ON lane.key = event.lane`;

/** The conditions that make up a list, for each of which there is an index. */
function partsOf(list: keyof typeof lists): readonly string[] {
  if (list === "done") return Object.values(byBody(lists.done.where));
  if (list === "ended") return Object.values(ended);
  return [lists[list].where];
}

function pageOf(state: EventState | undefined): string {
  const together = state === undefined ? (["pending", "ended"] as const) : [state];
  const parts = together.flatMap((list) =>
    partsOf(list).map((where) => part(lists[list].at, where)),
  );
  return `SELECT * FROM ((${parts.join(") UNION ALL (")})) AS page ORDER BY at DESC, seq DESC LIMIT $9`;
}

/** A page of what fits a condition, as an index of it gives it. */
function part(at: string, where: string): string {
  return `SELECT ${at} AS at, ${EVENT} WHERE ${where}
    AND ${FITS} AND ${at} >= $6::bigint
    AND (${at}, event.seq) < ($7::bigint, $8::bigint)
    ORDER BY ${at} DESC, event.seq DESC LIMIT $9`;
}

const ONE = `SELECT event.body, ${EVENT} WHERE event.id = $1`;

const STEPS = `
SELECT name, state, request, result, ref, started_at AS "startedAt"
FROM {schema}.step WHERE event_id = $1 AND fence <> ${ABSENT} ORDER BY started_at, name`;

/** Finds events for people to look at. */
export class Catalogue {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  async list({ state, limit, after, ...filter }: InboxListOptions): Promise<InboxPage> {
    const size = pageSize(limit);
    const { at, seq } = startOf(filter, after);
    // One more than asked for tells whether there are more.
    const values = [...fitting(filter), valuesOf(filter).since, at, seq, size + 1];
    return toPage(await this.#queries.rows<PageRow>(pageOf(state), values), size);
  }

  async show(id: string): Promise<EventDetails | undefined> {
    const [row] = await this.#queries.rows<WholeRow>(ONE, [id]);
    if (row === undefined) return undefined;
    const steps = await this.#queries.rows<StepRow>(STEPS, [id]);
    return toDetails(row, await historyOf(this.#queries, id), steps);
  }
}
