import Sqlite, { type Database } from "better-sqlite3";
import { onTestFinished } from "vitest";

/** What is asked for often enough to be looked at; the rest sets a connection up. */
const OFTEN = /^(SELECT|UPDATE|INSERT|DELETE)/;

/**
 * Watches which statements run from now on, until the end of the test. Many are prepared; which of them
 * run, only running them tells.
 */
export function watchStatements(): () => readonly string[] {
  const ran = watchRuns();
  return () => [...new Set(ran())];
}

/** Returns each run of a statement from now on, in order, until the end of the test. */
export function watchRuns(): () => readonly string[] {
  const seen: string[] = [];
  const statement = Object.getPrototypeOf(new Sqlite(":memory:").prepare("SELECT 1"));
  const methods = ["run", "get", "all"] as const;
  const originals = methods.map((name) => statement[name]);
  for (const [index, name] of methods.entries()) {
    statement[name] = function (this: { source: string }, ...args: unknown[]) {
      seen.push(this.source);
      return originals[index].apply(this, args);
    };
  }
  onTestFinished(() => {
    for (const [index, name] of methods.entries()) statement[name] = originals[index];
  });
  return () => seen.filter((sql) => OFTEN.test(sql.trim()));
}

/** The steps of SQLite's plan for a statement that look at every row there is. */
export function scansOf(db: Database, sql: string): string[] {
  // A search of a primary key without a condition is a scan by another name.
  return planOf(db, sql).filter(
    (step) =>
      /^SCAN (?!json_each|CONSTANT|\d+-ROW VALUES)/.test(step) || /USING PRIMARY KEY$/.test(step),
  );
}

/** How SQLite goes about a statement. */
export function planOf(db: Database, sql: string): string[] {
  return db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replace(/[@$]\w+|\?/g, "1")}`)
    .all()
    .map(({ detail }) => detail);
}
