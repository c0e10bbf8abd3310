import Sqlite from "better-sqlite3";
import { onTestFinished } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";

/** Opens an inbox in a file until the test ends. */
export function openSqlite(options: ConstructorParameters<typeof SqliteInbox>[0]): SqliteInbox {
  const inbox = new SqliteInbox(options);
  onTestFinished(() => inbox.close());
  return inbox;
}

/** Opens a file outside its inbox, as an operator would with the sqlite3 shell. */
export function lookInto<T>(
  file: string,
  work: (db: Sqlite.Database) => T,
  options: Sqlite.Options = {},
): T {
  const db = new Sqlite(file, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
