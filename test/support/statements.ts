import Sqlite, { type Database } from "better-sqlite3";
import { onTestFinished } from "vitest";

/** Matches statements that run often enough to be worth checking. Other statements only set up a connection. */
const OFTEN = /^(SELECT|UPDATE|INSERT|DELETE)/;

/** Records which statements run until the test ends. The inbox prepares many statements that it may never run. */
export function watchStatements(): () => readonly string[] {
  const ran = watchRuns();
  return () => [...new Set(ran())];
}

/** Records every execution of a statement, in order, until the test ends. */
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

export function scansOf(db: Database, sql: string): string[] {
  // A search by primary key without a condition is a scan in disguise.
  return planOf(db, sql).filter(
    (step) =>
      /^SCAN (?!json_each|CONSTANT|\d+-ROW VALUES)/.test(step) || /USING PRIMARY KEY$/.test(step),
  );
}

export function planOf(db: Database, sql: string): string[] {
  return db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replace(/[@$]\w+|\?/g, "1")}`)
    .all()
    .map(({ detail }) => detail);
}
