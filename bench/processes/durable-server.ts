import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { Database, Statement } from "better-sqlite3";
import { orderKey } from "../../src/events/id.ts";
import { type OpenFile, openFile } from "../../src/inbox/sqlite/open.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { SECRET } from "../support/formats.ts";
import { listenOnLoopback } from "../support/loopback.ts";

interface Delivery {
  readonly events: readonly Event[];
  readonly response: ServerResponse;
}

interface Event {
  readonly id: string;
  readonly type: string;
  readonly payload: { readonly conversationId: string };
}

/** A new file with an inbox's tables, indexes and settings, for event rows only. */
class EventFile {
  readonly #file: OpenFile;
  readonly #insert: Statement<unknown[]>;
  readonly #end: Statement<unknown[]>;

  constructor(path: string) {
    this.#file = openFile(path);
    this.#insert = this.#db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at)
       VALUES (?, ?, ?, ?, ?, 'webhook', 'pending', ?) ON CONFLICT (id) DO NOTHING`,
    );
    this.#end = this.#db.prepare("UPDATE event SET state = 'done', done_at = ? WHERE seq = ?");
  }

  /** Returns the `seq` values of the new rows. */
  commit(deliveries: readonly Delivery[], ended: readonly (number | bigint)[]) {
    const now = Date.now();
    const inserted: (number | bigint)[] = [];
    this.#db.exec("BEGIN IMMEDIATE");
    for (const { events } of deliveries) {
      for (const event of events) {
        const { id, type, payload } = event;
        const lane = `dm:${payload.conversationId}`;
        const body = JSON.stringify(event);
        const row = this.#insert.run(id, lane, orderKey(id), type, body, now);
        if (row.changes > 0) inserted.push(row.lastInsertRowid);
      }
    }
    for (const seq of ended) this.#end.run(now, seq);
    this.#db.exec("COMMIT");
    return inserted;
  }

  close(): void {
    this.#file.close();
  }

  get #db(): Database {
    return this.#file.db;
  }
}

const folder = makeFolder();
let files = 0;
let file: EventFile;
/** False to leave rows pending, as an inbox without a dispatcher does. */
let endsEvents = true;
let deliveries: Delivery[] = [];
/**
 * `seq` values of committed events without an outcome. The next commit stores their outcomes, because a handler runs
 * only after its event is committed.
 */
let committed: (number | bigint)[] = [];

function openNext(): void {
  files += 1;
  file = new EventFile(folder.file(`durable-${files}.db`));
}

/** Commits all deliveries of one event loop turn together, then acknowledges them. */
function flush(): void {
  const group = deliveries;
  deliveries = [];
  const inserted = file.commit(group, committed);
  committed = endsEvents ? inserted : [];
  for (const { events, response } of group) {
    respond(response, 200, { stored: events.length, duplicates: 0 });
  }
}

function respond(response: ServerResponse, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": text.length,
  });
  response.end(text);
}

function isSigned(header: unknown, body: Buffer): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
  const expected = createHmac("sha256", SECRET).update(`${t}.`).update(body).digest();
  return v1 !== undefined && timingSafeEqual(expected, Buffer.from(v1, "hex"));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    if (!isSigned(request.headers["x-service-signature"], body)) {
      respond(response, 401, {});
      return;
    }
    const { events } = JSON.parse(body.toString()) as { readonly events: readonly Event[] };
    if (deliveries.length === 0) setImmediate(flush);
    deliveries.push({ events, response });
  });
});

/**
 * A minimal durable server. It verifies deliveries, commits their events before it responds, and stores the outcomes.
 * It has no schema check, lanes or handlers.
 */
const handlers = {
  listen: (options: { readonly endsEvents: boolean }): Promise<string> => {
    endsEvents = options.endsEvents;
    openNext();
    return listenOnLoopback(server);
  },
  /** Stores the outcomes of the last commit's events. */
  finish: (): void => {
    committed = file.commit([], committed);
  },
  renew: (): void => {
    file.close();
    openNext();
  },
  stop: (): void => {
    server.closeAllConnections();
    server.close();
    file.close();
    folder.remove();
  },
};

export type DurableServer = typeof handlers;

answer(handlers);
