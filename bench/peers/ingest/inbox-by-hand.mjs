import { createServer } from "node:http";
import Database from "better-sqlite3";
import { answer } from "../../harness/child.ts";
import { noteCommit } from "../../harness/costs.ts";
import { makeFolder } from "../../support/folder.ts";
import { listenOnLoopback } from "../../support/loopback.ts";
import { verified } from "./verify.mjs";

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
  const rows = deliveries.map(({ events }) =>
    events.map((event) => insert.run(event.id, JSON.stringify(event))),
  );
  db.exec("COMMIT");
  noteCommit(file);
  for (const [nth, { response, events }] of deliveries.entries()) {
    respond(response, 200, { stored: events.length, duplicates: 0 });
    for (const { changes, lastInsertRowid } of rows[nth]) {
      if (changes > 0) void handle().then(() => ended.push(lastInsertRowid));
    }
  }
}

function respond(response, status, value) {
  const text = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": text.length });
  response.end(text);
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    if (!verified(request.headers["x-service-signature"], body)) return respond(response, 401, {});
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ events: JSON.parse(body).events, response });
  });
});

answer({
  listen: () => listenOnLoopback(server),
  /** Stores the ends of the last transaction's events. */
  finish: () => flush(),
});
