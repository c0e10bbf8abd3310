import Sqlite, { type Database } from "better-sqlite3";
import { onTestFinished } from "vitest";

/**
 * The SQL of every statement that runs from now on to the end of the test. Many are prepared; which of
 * them run, only running them tells.
 */
export function recordStatements(): ReadonlySet<string> {
  const seen = new Set<string>();
  const db = new Sqlite(":memory:");
  const statement = Object.getPrototypeOf(db.prepare("SELECT 1"));
  db.close();
  const methods = ["run", "get", "all"] as const;
  const originals = methods.map((name) => statement[name]);
  for (const [index, name] of methods.entries()) {
    statement[name] = function (this: { source: string }, ...args: unknown[]) {
      seen.add(this.source);
      return originals[index].apply(this, args);
    };
  }
  onTestFinished(() => {
    for (const [index, name] of methods.entries()) statement[name] = originals[index];
  });
  return seen;
}

/** How SQLite would go about a statement, step by step. */
export function planOf(db: Database, sql: string): string[] {
  return db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replace(/@\w+|\?/g, "1")}`)
    .all()
    .map(({ detail }) => detail);
}

/** The steps that look at every row of a table. */
export function scansOf(plan: readonly string[]): string[] {
  // A search of a primary key without a condition is a scan by another name.
  return plan.filter(
    (step) =>
      /^SCAN (?!json_each|CONSTANT|\d+-ROW VALUES)/.test(step) || /USING PRIMARY KEY$/.test(step),
  );
}
