import type { Database } from "better-sqlite3";
import { MARK, type Mark } from "../copy.ts";

/** The mark of an inbox that takes part in a copy. */
export function readMark(db: Database): Mark | undefined {
  const there = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(MARK);
  if (there === undefined) return undefined;
  return db.prepare<[], Mark>(`SELECT role, other, run FROM ${MARK}`).get();
}

/** Runs inside a transaction. */
export function setMark(db: Database, { role, other, run }: Mark): void {
  clearMark(db);
  db.exec(
    `CREATE TABLE ${MARK} (role TEXT NOT NULL, other TEXT NOT NULL, run TEXT NOT NULL) STRICT`,
  );
  db.prepare(`INSERT INTO ${MARK} (role, other, run) VALUES (?, ?, ?)`).run(role, other, run);
}

export function clearMark(db: Database): void {
  db.exec(`DROP TABLE IF EXISTS ${MARK}`);
}
