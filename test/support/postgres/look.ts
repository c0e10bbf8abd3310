import pg from "pg";
import type { Place } from "./open.ts";

type Server = Pick<Place, "url">;

export async function connected<T>(
  { url }: Server,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Queries the database from outside, as an operator would with psql. */
export function look<Row extends pg.QueryResultRow>(
  server: Server,
  sql: string,
  values?: unknown[],
): Promise<Row[]> {
  return connected(server, async (client) => (await client.query<Row>(sql, values)).rows);
}
