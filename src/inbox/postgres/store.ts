import type { StorageReport } from "../records.ts";
import type { Dialect, Query, Script, SqlStore } from "../sql/store.ts";
import type { Database, Queries } from "./database.ts";

/** Events that have ended, by index: an index that more rows are in would make every ending dearer. */
export const ended = {
  whole: "event.state IN ('done', 'discarded') AND event.body IS NOT NULL",
  bare: "event.state IN ('done', 'discarded') AND event.body IS NULL",
  dead: "event.state = 'dead'",
} as const;

const done = (index: string) => `${index} AND event.state = 'done'`;

/** The words of PostgreSQL, and the indexes of its schema. */
export const dialect: Dialect = {
  locksRows: true,
  lockText: "SELECT pg_advisory_xact_lock(1936876644, hashtext($1))",
  isAnyOf: (column, list) => `${column} = ANY (${list}::text[])`,
  position: (part, text) => `strpos(${text}, ${part})`,
  indexes: {
    pending: ["event.state = 'pending'"],
    done: [done(ended.whole), done(ended.bare)],
    dead: [ended.dead],
    discarded: ["event.state = 'discarded'"],
    ended: Object.values(ended),
  },
  pending:
    "SELECT count(*) AS n, min(received_at) AS at FROM {schema}.event WHERE state = 'pending'",
};

const BYTES = `
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
WHERE relnamespace = to_regnamespace('{schema}') AND relkind = 'r'`;

/** The database of an inbox, as statements see it. */
export class PostgresStore implements SqlStore {
  readonly dialect: Dialect = dialect;
  readonly #database: Pick<Database, "rows" | "transaction">;

  constructor(database: Pick<Database, "rows" | "transaction">) {
    this.#database = database;
  }

  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#database.rows<Row>(text, values);
  }

  write<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#database.rows<Row>(text, values);
  }

  run<T>(script: () => Script<T>): Promise<T> {
    return this.#database.transaction(async (queries) => {
      const running = script();
      let step = running.next([]);
      while (step.done !== true) step = running.next(await answer(queries, step.value));
      return step.value;
    });
  }

  async storage(): Promise<StorageReport> {
    const [size] = await this.rows<{ readonly bytes: number }>(BYTES);
    return { bytes: size?.bytes ?? 0, walBytes: undefined };
  }
}

function answer(queries: Queries, { text, values }: Query): Promise<unknown[]> {
  return queries.rows<unknown>(text, values);
}
