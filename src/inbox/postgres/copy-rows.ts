import { MARK, overtaken } from "../copy/mark.ts";
import {
  batchesOf,
  type Cell,
  columnsOf,
  type Row,
  selectBatch,
  type Table,
} from "../copy/tables.ts";
import type { Queries } from "./database.ts";

/** The rows go in as long as the mark is the one of this run: a later run has removed them otherwise. */
function insertInto(table: Table): string {
  const columns = columnsOf(table);
  const arrays = table.columns.map(
    ({ type }, index) => `$${index + 2}::${type === "text" ? "text" : "bigint"}[]`,
  );
  return `
WITH mine AS MATERIALIZED (
  SELECT run FROM {schema}.${MARK} WHERE run = $1 FOR SHARE
), stored AS (
  INSERT INTO {schema}.${table.name} (${columns}) OVERRIDING SYSTEM VALUE
  SELECT ${columns} FROM unnest(${arrays.join(", ")}) AS input (${columns})
  WHERE EXISTS (SELECT FROM mine) RETURNING 1
)
SELECT count(*) AS n FROM stored`;
}

type Named = Readonly<Record<string, Cell>>;

/** Rows of the tables of an inbox, as a copy reads and writes them. */
export class CopyRows {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  async count({ name }: Table): Promise<number> {
    const counted = `SELECT count(*) AS n FROM {schema}.${name}`;
    const [row] = await this.#queries.rows<{ readonly n: number }>(counted);
    return row?.n ?? 0;
  }

  read(table: Table): AsyncIterable<readonly Row[]> {
    const from = `{schema}.${table.name}`;
    const first = selectBatch(table, from, []);
    const next = selectBatch(
      table,
      from,
      table.key.map((_, index) => `$${index + 1}`),
    );
    return batchesOf(table, async (after) => {
      const rows = await this.#queries.rows<Named>(after ? next : first, after);
      return rows.map((row) => table.columns.map(({ name }) => row[name] ?? null));
    });
  }

  /**
   * @param run the one that the mark must be of
   * @throws {ServiceBotError} INBOX_UNFINISHED when it is another one's
   */
  async write(table: Table, rows: readonly Row[], run: string, place: string): Promise<void> {
    const columns = table.columns.map((_, index) => rows.map((row) => row[index]));
    const [stored] = await this.#queries.rows<{ readonly n: number }>(insertInto(table), [
      run,
      ...columns,
    ]);
    if (stored?.n !== rows.length) throw overtaken(place);
  }

  async clear(all: readonly Table[]): Promise<void> {
    const names = all.map(({ name }) => `{schema}.${name}`);
    await this.#queries.rows(`TRUNCATE ${names.join(", ")}`);
  }

  async isEmpty(all: readonly Table[]): Promise<boolean> {
    const any = all.map(({ name }) => `EXISTS (SELECT FROM {schema}.${name})`);
    const [found] = await this.#queries.rows<{ readonly any: boolean }>(
      `SELECT ${any.join(" OR ")} AS any`,
    );
    return found?.any !== true;
  }
}
