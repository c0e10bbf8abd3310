import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { Bot } from "../src/index.ts";
import { SIGNATURE_HEADER, sign } from "./faces/signature.ts";
import { emptyPlace, sessionAt } from "./support/postgres/open.ts";
import { watchRuns } from "./support/statements.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const API_KEY = "for-tests-only";
const SECRET = "whsec_of_this_test";

/** Events that have ended, as a bot has them after a busy month. */
const HISTORY = 300_000;

/** Requests on one connection, sent at once. */
const PIPELINED = 1_000;

/** In ms. It took 11 s when each report counted the history; 300 ms is the aim, on a machine with nothing else to do. */
const MAX_WAIT_MS = 3_000;

/** Counts while the flood is answered. A report is kept for a second, and has three. Generous, for a slow machine. */
const MAX_COUNTS = PIPELINED / 10;

/** A condition that events which have ended meet. Dead letters are few, and have an index of their own. */
const ENDED = /<> 'pending'|'(done|discarded)'/;

/** Instances on PostgreSQL count what has ended within a minute. */
const RECENT = /done_at >/;

const EVENT = `'dm:c_1', 'done', 'dm.message', 'done', 'webhook', 1, 1`;

/** Where an inbox is, and how its table of events gets a long history. */
interface Store {
  readonly databaseUrl: string;
  readonly databaseSchema?: string;
  fill(): Promise<void>;
  /** Returns each statement that runs from now on. */
  watch(): () => readonly string[];
}

/** The same as {@link watchRuns}, of PostgreSQL. */
function watchQueries(): () => readonly string[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return () => query.mock.calls.map(([statement]) => String(statement));
}

const stores: readonly [string, () => Promise<Store>][] = [
  [
    "a file",
    async () => {
      const file = join(temporaryFolder(), "bot.db");
      const fill = async () => {
        const db = new Sqlite(file);
        db.exec(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${HISTORY})
           INSERT INTO event (id, ord, lane, body, type, state, source, received_at, done_at)
           SELECT 'old_' || i, i, ${EVENT} FROM n`,
        );
        db.close();
      };
      return { databaseUrl: `file:${file}`, fill, watch: watchRuns };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const place = await emptyPlace();
      const fill = async () => {
        const session = await sessionAt(place);
        await session.query(
          `INSERT INTO ${place.schema}.event
             (id, ord, lane, body, type, state, source, received_at, done_at)
           SELECT 'old_' || i, i::text, ${EVENT} FROM generate_series(1, ${HISTORY}) AS i`,
        );
      };
      return { databaseUrl: place.url, databaseSchema: place.schema, fill, watch: watchQueries };
    },
  ],
];

async function startBot({ databaseUrl, databaseSchema }: Store): Promise<Bot> {
  const bot = new Bot({
    env: {},
    baseUrl: "http://platform.test",
    ...{ apiKey: API_KEY, webhookSecret: SECRET, databaseUrl },
    ...(databaseSchema !== undefined && { databaseSchema }),
    delivery: "webhook",
    port: 0,
    logLevel: "silent",
    fetch: () => Promise.reject(new Error("there is no platform")),
  });
  await bot.start({ standalone: false });
  return bot;
}

/** Asks for the report many times on one connection. Resolves once all of that is sent, with the wait for the answers. */
async function floodReports(url: string): Promise<{ answered(): Promise<void> }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const head = `GET /readyz?verbose HTTP/1.1\r\nhost: bot.test\r\nauthorization: Bearer ${API_KEY}\r\n\r\n`;
  await once(socket, "connect");
  const answered = new Promise<void>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.split("HTTP/1.1 200 ").length > PIPELINED) resolve();
    });
  });
  await new Promise((resolve) => socket.write(head.repeat(PIPELINED), resolve));
  return { answered: () => answered };
}

test.each(stores)(
  "with a long history in %s a delivery does not wait for reports",
  async (_name, openStore) => {
    const store = await openStore();
    await (await startBot(store)).stop();
    await store.fill();
    const bot = await startBot(store);
    onTestFinished(() => bot.stop());
    const body = JSON.stringify({ events: [] });
    const headers = { [SIGNATURE_HEADER]: sign(body, SECRET, Date.now() / 1000) };
    const statements = store.watch();
    const asked = performance.now();
    const flood = await floodReports(bot.url ?? "");
    const answer = await fetch(`${bot.url}/webhook`, { method: "POST", body, headers });
    const waited = performance.now() - asked;
    expect(answer.status).toBe(200);
    expect(waited).toBeLessThan(MAX_WAIT_MS);
    await flood.answered();
    const counts = statements().filter((text) => text.includes("count("));
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.length).toBeLessThan(MAX_COUNTS);
    expect(counts.filter((text) => ENDED.test(text) && !RECENT.test(text))).toEqual([]);
  },
  60_000,
);
