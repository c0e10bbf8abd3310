import pg from "pg";
import type { Place } from "./open.ts";

/** Looks into the database from outside, as an operator would with a shell. */
export async function look<Row extends pg.QueryResultRow>(
  { url }: Place,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
