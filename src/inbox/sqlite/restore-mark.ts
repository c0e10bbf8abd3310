import type { Database } from "better-sqlite3";
import { RESTORED, type RestoreMark, readRestoreMark, writeRestoreMark } from "../restored.ts";

/** What the inbox knows of the backup that it came from. */
export function storedMark(db: Database): RestoreMark | undefined {
  const find = db.prepare<[], string>(`SELECT position FROM cursor WHERE name = '${RESTORED}'`);
  return readRestoreMark(find.pluck().get());
}

/** Runs inside a transaction, or is one. */
export function storeMark(db: Database, mark: RestoreMark): void {
  db.prepare(
    `INSERT INTO cursor (name, position) VALUES ('${RESTORED}', ?)
     ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
  ).run(writeRestoreMark(mark));
}
