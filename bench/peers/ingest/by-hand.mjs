import Database from "better-sqlite3";
import { makeFolder } from "../../support/folder.ts";
import { serve } from "./serve.mjs";
import { verified } from "./verify.mjs";

const folder = makeFolder();
process.once("exit", () => folder.remove());
const db = new Database(folder.file("events.db"));
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE event (id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID");
const insert = db.prepare("INSERT OR IGNORE INTO event (id, body) VALUES (?, ?)");

// The server that a bot's author would write by hand: one synced insert per event, then the 200. It handles no event.
serve((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const ok = verified(request.headers["x-service-signature"], body);
    const events = ok ? JSON.parse(body).events : [];
    for (const event of events) insert.run(event.id, JSON.stringify(event));
    const text = JSON.stringify({ stored: events.length, duplicates: 0 });
    response.writeHead(ok ? 200 : 401, {
      "content-type": "application/json",
      "content-length": text.length,
    });
    response.end(text);
  });
});
