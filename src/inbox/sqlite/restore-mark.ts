import type { Database } from "better-sqlite3";
import { RESTORED, type RestoreMark, writeRestoreMark } from "../restored.ts";

/** Runs inside a transaction, or is one. */
export function storeMark(db: Database, mark: RestoreMark): void {
  db.prepare(
    `INSERT INTO cursor (name, position) VALUES ('${RESTORED}', ?)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
  ).run(writeRestoreMark(mark));
}
