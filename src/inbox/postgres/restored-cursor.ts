import { RESTORED, type RestoreMark, readRestoreMark, writeRestoreMark } from "../restored.ts";
import type { Queries } from "./database.ts";

const READ = `SELECT position FROM {schema}.cursor WHERE name = '${RESTORED}'`;

const WRITE = `
INSERT INTO {schema}.cursor (name, position) VALUES ('${RESTORED}', $1)
ON CONFLICT (name) DO UPDATE SET position = excluded.position`;

/** What the inbox knows of the backup that it came from. */
export async function storedMark(queries: Pick<Queries, "rows">): Promise<RestoreMark | undefined> {
  const [row] = await queries.rows<{ readonly position: string }>(READ);
  return readRestoreMark(row?.position);
}

export async function storeMark(queries: Pick<Queries, "rows">, mark: RestoreMark): Promise<void> {
  await queries.rows(WRITE, [writeRestoreMark(mark)]);
}
