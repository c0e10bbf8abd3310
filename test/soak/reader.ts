import Sqlite from "better-sqlite3";
import { answer } from "../../bench/harness/child.ts";

let db: Sqlite.Database | undefined;

/** Somebody with a shell on the file who has begun to read, and has gone for lunch. */
const handlers = {
  /** Holds a read transaction open: what is written from now on cannot leave the WAL. */
  pin: (file: string): void => {
    db = new Sqlite(file, { readonly: true });
    db.exec("BEGIN");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
  },
  release: (): void => {
    db?.close();
    db = undefined;
  },
};

export type Reader = typeof handlers;

answer(handlers);
