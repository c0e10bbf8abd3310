import Sqlite from "better-sqlite3";

/** SQLite's own upper bound. */
const UNLIMITED = 4_294_967_294;

/**
 * Gives the inbox a disk that can be filled: then it may grow no further than it is, and SQLite answers the
 * next write that needs a page with SQLITE_FULL, as it does when the disk has none left.
 */
export function limitFile(): (disk: "full" | "free") => void {
  let inbox: Sqlite.Database | undefined;
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function watched(this: Sqlite.Database, sql) {
    if (sql === "BEGIN IMMEDIATE") inbox = this;
    return exec.call(this, sql);
  };
  return (disk) => {
    // SQLite takes no bound below the size that the file has.
    inbox?.pragma(`max_page_count = ${disk === "full" ? 1 : UNLIMITED}`);
  };
}
