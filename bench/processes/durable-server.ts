import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { Database, Statement } from "better-sqlite3";
import { createLogger } from "../../src/core/logger.ts";
import { orderKey } from "../../src/events/id.ts";
import { type OpenFile, openFile } from "../../src/inbox/sqlite/open.ts";
import { answer } from "../harness/child.ts";
import { makeFolder } from "../support/folder.ts";
import { SECRET } from "../support/formats.ts";
import { listenOnLoopback } from "../support/loopback.ts";

export interface DurableOptions {
  readonly endsEvents: boolean;
  readonly leasesEvents: boolean;
}

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
  readonly #begin: Statement<unknown[]>;
  readonly #end: Statement<unknown[]>;

  constructor(path: string) {
    this.#file = openFile(path);
    this.#insert = this.#db.prepare(
      `INSERT INTO event (id, lane, ord, type, body, source, state, received_at)
       VALUES (?, ?, ?, ?, ?, 'webhook', 'pending', ?) ON CONFLICT (id) DO NOTHING`,
    );
    this.#begin = this.#db.prepare(
      "UPDATE event SET fence = ?, leased_until = ?, begun_at = ? WHERE seq = ? AND state = 'pending'",
    );
    this.#end = this.#db.prepare(
      `UPDATE event SET state = 'done', done_at = ?, attempts = attempts + 1, leased_until = NULL
       WHERE seq = ? AND state = 'pending'`,
    );
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
    if (leasesEvents) {
      for (const seq of inserted) this.#begin.run(Number(seq), now + LEASE_MS, now, seq);
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

const LEASE_MS = 30_000;

const folder = makeFolder();
let files = 0;
let file: EventFile;
/** False to leave rows pending, as an inbox without a dispatcher does. */
let endsEvents = true;
/** True to lease each event, and to log each delivery and each run, as a bot does. */
let leasesEvents = false;
const log = createLogger({ level: "info", secrets: [] });
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
    if (!leasesEvents) continue;
    log.info({ status: 200, stored: events.length, duplicates: 0 }, "delivery");
    for (const { id, type } of events) log.info({ event: id, type, ms: 0 }, "handled");
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
 * It has no schema check, lanes in memory, retries or handlers.
 */
const handlers = {
  listen: (options: DurableOptions): Promise<string> => {
    endsEvents = options.endsEvents;
    leasesEvents = options.leasesEvents;
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
