import Sqlite from "better-sqlite3";

/** The largest `max_page_count` that SQLite accepts. */
const UNLIMITED = 4_294_967_294;

/** Simulates a full disk: the file cannot grow, so any write that needs a new page fails with SQLITE_FULL. */
export function limitFile(): (disk: "full" | "free") => void {
  let inbox: Sqlite.Database | undefined;
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function watched(this: Sqlite.Database, sql) {
    if (sql === "BEGIN IMMEDIATE") inbox = this;
    return exec.call(this, sql);
  };
  return (disk) => {
    // Free pages within the file would be room.
    if (disk === "full") inbox?.pragma("incremental_vacuum");
    // SQLite raises a limit that is too low to the file's current size.
    inbox?.pragma(`max_page_count = ${disk === "full" ? 1 : UNLIMITED}`);
  };
}
