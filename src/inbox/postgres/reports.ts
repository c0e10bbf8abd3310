import type { InboxMeasures } from "../measures.ts";
import type { InboxReport, InboxStats } from "../records.ts";
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

const WAITING = `
SELECT count(*) AS pending, min(received_at) AS oldest,
  (SELECT count(*) FROM {schema}.event WHERE ${ended.dead}) AS dead
FROM {schema}.event WHERE state = 'pending'`;

const DEAD_BY_TYPE = `
SELECT type, count(*) AS n FROM {schema}.event WHERE ${ended.dead} GROUP BY type ORDER BY n DESC, type`;

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
    const rows = await this.#queries.rows<{ type: string; n: number }>(DEAD_BY_TYPE);
    const deadByType = Object.fromEntries(rows.map(({ type, n }) => [type, n]));
    return { ...(await this.#count()), deadByType };
  }

  async ping(): Promise<void> {
    await this.#queries.rows("SELECT 1");
  }

  async #count(): Promise<Omit<InboxReport, "deadByType">> {
    const [row] = await this.#queries.rows<CountRow>(COUNTS);
    const { pending, oldest, ended, dead, discarded } = row ?? NOTHING;
    const done = ended - discarded;
    return { pending, done, dead, discarded, oldestPendingAt: oldest ?? undefined };
  }
}

const NOTHING: CountRow = { pending: 0, oldest: null, ended: 0, dead: 0, discarded: 0 };
