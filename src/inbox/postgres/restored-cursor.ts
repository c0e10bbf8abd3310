import { RESTORED, type RestoreMark, writeRestoreMark } from "../restored.ts";
import type { Queries } from "./database.ts";

const WRITE = `
INSERT INTO {schema}.cursor (name, position) VALUES ('${RESTORED}', $1)
ON CONFLICT (name) DO UPDATE SET position = excluded.position`;

export async function storeMark(queries: Pick<Queries, "rows">, mark: RestoreMark): Promise<void> {
  await queries.rows(WRITE, [writeRestoreMark(mark)]);
}
