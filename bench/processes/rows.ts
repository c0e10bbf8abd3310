import Sqlite, { type Database } from "better-sqlite3";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";

const folder = makeFolder();
let db: Database;

/** What an act cannot do without: its rows, written by SQLite in the same portions and to a file. */
const handlers = {
  open: (): void => {
    db = new Sqlite(folder.file("rows.db"));
    db.pragma("journal_mode = WAL");
    db.exec(`
      CREATE TABLE message (seq INTEGER PRIMARY KEY, conversation, author, text, created_at);
      CREATE TABLE event (seq INTEGER PRIMARY KEY, type, payload, created_at);`);
  },
  /** Writes the rows of so many acts, 1,000 to a transaction. Resolves to the milliseconds it took. */
  insert: (acts: number): number => {
    const message = db.prepare("INSERT INTO message VALUES (NULL, 1, 2, ?, ?)");
    const event = db.prepare("INSERT INTO event VALUES (NULL, ?, ?, ?)");
    const from = { userId: "u_2", username: "ada", name: "Ada" };
    const payload = JSON.stringify({ conversationId: "c_2", from, excerpt: "hello" });
    const write = db.transaction(() => {
      for (let nth = 0; nth < 1000; nth += 1) {
        message.run("hello", nth);
        event.run("dm.message", payload, nth);
      }
    });
    const started = performance.now();
    for (let done = 0; done < acts; done += 1000) write();
    return performance.now() - started;
  },
  close: (): void => {
    db.close();
    folder.remove();
  },
};

export type Rows = typeof handlers;

answer(handlers);
