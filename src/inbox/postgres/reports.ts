import type { InboxMeasures } from "../measures.ts";
import type { InboxReport, InboxStats, LaneReport } from "../records.ts";
import type { Queries } from "./database.ts";
import { ended } from "./sql.ts";

const CURSOR = "SELECT position FROM {schema}.cursor WHERE name = $1";
const WEBHOOK_TYPES = "SELECT type FROM {schema}.webhook_type";

/** Counted from the index alone. */
const BACKLOG = "SELECT count(*) AS n FROM {schema}.event WHERE state = 'pending'";

/** Counted from the indexes; what is done is what is left of all that have ended and are not dead. */
const COUNTS = `
SELECT pending.n AS pending, pending.oldest,
  (SELECT count(*) FROM {schema}.event WHERE ${ended.whole}) +
    (SELECT count(*) FROM {schema}.event WHERE ${ended.bare}) AS ended,
  (SELECT count(*) FROM {schema}.event WHERE ${ended.dead}) AS dead,
  (SELECT count(*) FROM {schema}.event WHERE state = 'discarded') AS discarded
FROM (SELECT count(*) AS n, min(received_at) AS oldest
  FROM {schema}.event WHERE state = 'pending') AS pending`;

const grouped = (name: string, where: string, more = "") => `
SELECT ${name} AS name, count(*) AS n FROM {schema}.event WHERE ${where} GROUP BY 1 ORDER BY n DESC, name ${more}`;

/** So much of an error is its name and its code, where nothing says where these end. */
const MOST_OF_ERROR = 80;

const END = "strpos(error, ': ')";
const NAME_OF_ERROR = `left(coalesce(error, ''),
  CASE WHEN ${END} BETWEEN 2 AND ${MOST_OF_ERROR} THEN ${END} - 1 ELSE ${MOST_OF_ERROR} END) COLLATE "C"`;

const PENDING_BY_TYPE = grouped("type", "state = 'pending'");
const DEAD_BY_TYPE = grouped("type", ended.dead);
const DEAD_BY_ERROR = grouped(NAME_OF_ERROR, ended.dead, "LIMIT 20");

const LANE_WAITS = "owner IS NULL AND ready_at > {now}";

const LANES = `
SELECT count(*) - count(*) FILTER (WHERE ready_at > {now}) AS ready,
  count(*) FILTER (WHERE ${LANE_WAITS}) AS waiting,
  count(*) FILTER (WHERE owner IS NOT NULL AND ready_at > {now}) AS leased,
  count(*) FILTER (WHERE ${LANE_WAITS} AND n > 1) AS blocked
FROM (SELECT lane, count(*) AS n FROM {schema}.event WHERE state = 'pending' GROUP BY lane) AS counted
LEFT JOIN {schema}.lane ON lane.key = counted.lane`;

const BYTES = `
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
WHERE relnamespace = to_regnamespace('{schema}') AND relkind = 'r'`;

const WAITING = `
SELECT count(*) AS pending, min(received_at) AS oldest,
  (SELECT count(*) FROM {schema}.event WHERE ${ended.dead}) AS dead
FROM {schema}.event WHERE state = 'pending'`;

interface CountRow {
  readonly pending: number;
  readonly oldest: number | null;
  readonly ended: number;
  readonly dead: number;
  readonly discarded: number;
}

/** What can be asked without changing anything. */
export class Reports {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  async cursor(name: string): Promise<string | undefined> {
    const [row] = await this.#queries.rows<{ readonly position: string }>(CURSOR, [name]);
    return row?.position;
  }

  async webhookTypes(): Promise<ReadonlySet<string>> {
    const rows = await this.#queries.rows<{ readonly type: string }>(WEBHOOK_TYPES);
    return new Set(rows.map(({ type }) => type));
  }

  /** How many events wait. */
  async backlog(): Promise<number> {
    const [row] = await this.#queries.rows<{ readonly n: number }>(BACKLOG);
    return row?.n ?? 0;
  }

  async measure(): Promise<InboxMeasures> {
    const [row] = await this.#queries.rows<Omit<CountRow, "ended" | "discarded">>(WAITING);
    const { pending, oldest, dead } = row ?? NOTHING;
    return { pending, oldestPendingAt: oldest ?? undefined, dead, disk: undefined };
  }

  async stats(): Promise<InboxStats> {
    const { discarded: _, ...stats } = await this.#count();
    return stats;
  }

  async report(): Promise<InboxReport> {
    const [lanes = NO_LANES] = await this.#queries.rows<LaneReport>(LANES);
    const [size] = await this.#queries.rows<{ readonly bytes: number }>(BYTES);
    return {
      ...(await this.#count()),
      pendingByType: await this.#byName(PENDING_BY_TYPE),
      deadByType: await this.#byName(DEAD_BY_TYPE),
      deadByError: await this.#byName(DEAD_BY_ERROR),
      lanes,
      storage: { bytes: size?.bytes ?? 0, walBytes: undefined },
    };
  }

  async #byName(statement: string): Promise<Record<string, number>> {
    const rows = await this.#queries.rows<{ name: string; n: number }>(statement);
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
  }

  async ping(): Promise<void> {
    await this.#queries.rows("SELECT 1");
  }

  async #count(): Promise<InboxStats & Pick<InboxReport, "discarded">> {
    const [row] = await this.#queries.rows<CountRow>(COUNTS);
    const { pending, oldest, ended, dead, discarded } = row ?? NOTHING;
    const done = ended - discarded;
    return { pending, done, dead, discarded, oldestPendingAt: oldest ?? undefined };
  }
}

const NOTHING: CountRow = { pending: 0, oldest: null, ended: 0, dead: 0, discarded: 0 };

const NO_LANES: LaneReport = { ready: 0, waiting: 0, leased: 0, blocked: 0 };
