import Database from "better-sqlite3";
import { noteCommit } from "../../harness/costs.ts";
import { makeFolder } from "../../support/folder.ts";
import { serveEvents } from "./serve-events.mjs";

const folder = makeFolder();
process.once("exit", () => folder.remove());
const file = folder.file("events.db");
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL, done_at INTEGER)");
const insert = db.prepare("INSERT OR IGNORE INTO event (id, body) VALUES (?, ?)");
const end = db.prepare("UPDATE event SET done_at = ? WHERE rowid = ?");
const handle = () => Promise.resolve();

// The whole inbox that an author would write by hand. Deliveries of one turn share a transaction, an event runs after
// its commit, and its end shares the next transaction. It has no lanes, order, leases or retries.
let waiting = [];
let ended = [];

function flush() {
  const [deliveries, ends] = [waiting, ended];
  [waiting, ended] = [[], []];
  db.exec("BEGIN IMMEDIATE");
  for (const rowid of ends) end.run(Date.now(), rowid);
  const rows = deliveries.flatMap(({ events }) =>
    events.map((event) => insert.run(event.id, JSON.stringify(event))),
  );
  db.exec("COMMIT");
  noteCommit(file);
  for (const { acknowledge } of deliveries) acknowledge();
  for (const { changes, lastInsertRowid } of rows) {
    if (changes > 0) void handle().then(() => ended.push(lastInsertRowid));
  }
}

function store(events, acknowledge) {
  if (waiting.length === 0) setImmediate(flush);
  waiting.push({ events, acknowledge });
}

// `finish` stores the ends of the last transaction's events.
serveEvents(store, { finish: flush });
