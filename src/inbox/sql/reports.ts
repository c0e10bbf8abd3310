import type { InboxMeasures, InboxReport, InboxStats, LaneReport } from "../admin.ts";
import type { Dialect, SqlStore } from "./store.ts";

/** Maximum length of an error's name and code that no colon ends, in characters. */
const MAX_ERROR_NAME = 80;

const MAX_ERRORS = 20;

interface CountRow {
  readonly pending: number;
  readonly oldest: number | null;
  readonly dead: number;
}

interface EndedRow {
  readonly ended: number;
  readonly discarded: number;
}

const statementsIn = ({ indexes, pending, position, leaseEnds, isLaneLeased }: Dialect) => {
  // Use only indexes, because there may be millions of rows.
  const count = (where: string) => `(SELECT count(*) FROM {schema}.event WHERE ${where})`;
  const all = (parts: readonly string[]) => parts.map(count).join(" + ");
  const grouped = (name: string, state: "pending" | "dead", more = "") => `
    SELECT ${name} AS name, count(*) AS n FROM {schema}.event WHERE ${indexes[state].join(" OR ")}
    GROUP BY 1 ORDER BY n DESC, 1 ${more}`;
  const end = position("': '", "error");
  return {
    counts: `SELECT n AS pending, at AS oldest, ${all(indexes.dead)} AS dead FROM (${pending}) AS pending`,
    ended: `SELECT ${all(indexes.ended)} AS ended, ${all(indexes.discarded)} AS discarded`,
    pendingByType: grouped("type", "pending"),
    deadByType: grouped("type", "dead"),
    deadByError: grouped(
      `substr(coalesce(error, ''), 1,
        CASE WHEN ${end} BETWEEN 2 AND ${MAX_ERROR_NAME} THEN ${end} - 1 ELSE ${MAX_ERROR_NAME} END)`,
      "dead",
      `LIMIT ${MAX_ERRORS}`,
    ),
    // Group by the events' lane, because a lane's row may not be written yet when its first event has arrived.
    lanes: `
      SELECT count(CASE WHEN state = 'ready' THEN 1 END) AS ready,
        count(CASE WHEN state = 'waiting' THEN 1 END) AS waiting,
        count(CASE WHEN state = 'leased' THEN 1 END) AS leased,
        count(CASE WHEN state = 'waiting' AND n > 1 THEN 1 END) AS blocked
      FROM (SELECT n, CASE WHEN ${isLaneLeased} THEN 'leased' WHEN lane.ready_at > {now} THEN 'waiting' ELSE 'ready' END
            AS state
        FROM (SELECT lane, count(*) AS n ${leaseEnds} FROM {schema}.event WHERE state = 'pending' GROUP BY lane)
          AS counted
        LEFT JOIN {schema}.lane ON lane.key = counted.lane) AS lanes`,
  };
};

export class Reports {
  readonly #store: SqlStore;
  readonly #statements: ReturnType<typeof statementsIn>;

  constructor(store: SqlStore) {
    this.#store = store;
    this.#statements = statementsIn(store.dialect);
  }

  async measure(): Promise<Omit<InboxMeasures, "disk">> {
    const [row] = await this.#store.rows<CountRow>(this.#statements.counts);
    const { pending, oldest, dead } = row ?? { pending: 0, oldest: null, dead: 0 };
    return { pending, oldestPendingAt: oldest ?? undefined, dead };
  }

  async stats(): Promise<InboxStats> {
    const { discarded: _, ...stats } = await this.#count();
    return stats;
  }

  async report(): Promise<InboxReport> {
    const { pendingByType, deadByType, deadByError, lanes } = this.#statements;
    const [counted] = await this.#store.rows<LaneReport>(lanes);
    return {
      ...(await this.#count()),
      pendingByType: await this.#byName(pendingByType),
      deadByType: await this.#byName(deadByType),
      deadByError: await this.#byName(deadByError),
      lanes: counted ?? { ready: 0, waiting: 0, leased: 0, blocked: 0 },
      storage: await this.#store.storage(),
    };
  }

  async #count(): Promise<InboxStats & Pick<InboxReport, "discarded">> {
    const counted = await this.measure();
    const [row] = await this.#store.rows<EndedRow>(this.#statements.ended);
    const { ended, discarded } = row ?? { ended: 0, discarded: 0 };
    return { ...counted, done: ended - counted.dead - discarded, discarded };
  }

  async #byName(statement: string): Promise<Record<string, number>> {
    const rows = await this.#store.rows<{ readonly name: string; readonly n: number }>(statement);
    return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
  }
}
