import Database from "better-sqlite3";
import { makeFolder } from "../../support/folder.ts";
import { serveEvents } from "./serve-events.mjs";

const folder = makeFolder();
process.once("exit", () => folder.remove());
const db = new Database(folder.file("events.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID");
const insert = db.prepare("INSERT OR IGNORE INTO event (id, body) VALUES (?, ?)");

// The server that a bot's author would write by hand: one synced insert per event, then the 200. It handles no event.
serveEvents((events, acknowledge) => {
  for (const event of events) insert.run(event.id, JSON.stringify(event));
  acknowledge();
});
