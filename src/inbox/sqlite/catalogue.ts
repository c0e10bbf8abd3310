import type { Database, Statement } from "better-sqlite3";
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
import { type EventDetails, type EventState, eventStates } from "../records.ts";
import { ABSENT } from "../restored.ts";
import { FITS } from "./fits.ts";
import type { History } from "./history.ts";

type Parameters = [Record<string, unknown>];

/** A run that has not ended is not among the attempts of its event yet, and belongs to them all the same. */
const EVENT = `event.seq, event.id, event.type, event.lane, event.state, event.source,
  event.attempts + coalesce(event.state = 'pending' AND lane.owner IS NOT NULL
    AND lane.claimed = event.seq, 0) AS attempts,
  event.received_at, event.trace, event.done_at, event.error, event.reason,
  event.state = 'pending' AND lane.owner IS NOT NULL AND lane.claimed = event.seq
    AND lane.ready_at > @now AS leased
  FROM event LEFT JOIN lane ON lane.key = event.lane`;

/** Finds events for people to look at. */
export class Catalogue {
  readonly #history: History;
  readonly #pages: ReadonlyMap<EventState | undefined, Statement<Parameters, PageRow>>;
  readonly #event: Statement<Parameters, WholeRow>;
  readonly #steps: Statement<Parameters, StepRow>;

  constructor(db: Database, history: History) {
    this.#history = history;
    this.#pages = new Map(
      [...eventStates, undefined].map((state) => [state, db.prepare(pageOf(state))]),
    );
    this.#event = db.prepare(`SELECT event.body, ${EVENT} WHERE event.id = @id`);
    this.#steps = db.prepare(
      `SELECT name, state, request, result, ref, started_at AS startedAt
       FROM step WHERE event_id = @id AND fence <> ${ABSENT} ORDER BY started_at, name`,
    );
  }

  /** @throws {ServiceBotError} CURSOR_INVALID */
  list({ state, limit, after, ...filter }: InboxListOptions, now: number): InboxPage {
    const size = pageSize(limit);
    const rows = this.#pages.get(state)?.all({
      ...valuesOf(filter),
      now,
      ...startOf(filter, after),
      // One more than asked for tells whether there are more.
      limit: size + 1,
    });
    return toPage(rows ?? [], size);
  }

  show(id: string, now: number): EventDetails | undefined {
    const row = this.#event.get({ id, now });
    return row && toDetails(row, this.#history.of(id), this.#steps.all({ id }));
  }
}

/** All events together are the two lists that an index serves, merged. */
function pageOf(state: EventState | undefined): string {
  if (state !== undefined) return part(state);
  return `SELECT * FROM (${part("pending")}) UNION ALL SELECT * FROM (${part("ended")})
    ORDER BY at DESC, seq DESC LIMIT @limit`;
}

function part(list: keyof typeof lists): string {
  const { where, at } = lists[list];
  return `SELECT ${at} AS at, ${EVENT} WHERE ${where}
    AND ${FITS} AND ${at} >= @since
    AND (${at}, event.seq) < (@at, @seq)
    ORDER BY ${at} DESC, event.seq DESC LIMIT @limit`;
}
