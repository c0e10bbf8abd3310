import Sqlite from "better-sqlite3";

/** SQLite's maximum for `max_page_count`. */
const UNLIMITED = 4_294_967_294;

/** Simulates a full disk. The file cannot grow, so a write that needs a new page fails with SQLITE_FULL. */
export function limitFile(): (disk: "full" | "free") => void {
  let inbox: Sqlite.Database | undefined;
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function watched(this: Sqlite.Database, sql) {
    if (sql === "BEGIN IMMEDIATE") inbox = this;
    return exec.call(this, sql);
  };
  return (disk) => {
    // SQLite raises a lower limit to the file's current size.
    inbox?.pragma(`max_page_count = ${disk === "full" ? 1 : UNLIMITED}`);
  };
}
