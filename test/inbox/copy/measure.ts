/**
 * Measures a copy into PostgreSQL and the size of an event there: npx node test/inbox/copy/measure.ts [EVENTS]
 * The server's data is in memory if the system has /dev/shm, so the disk is not measured.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { orderKey } from "../../faces/events.ts";
import { CLI } from "../../faces/files.ts";
import { openFile } from "../../faces/inbox-sqlite.ts";
import { look } from "../../support/postgres/look.ts";
import { PostgresServer } from "../../support/postgres/server.ts";

const LANES = 50_000;
/** Size of a message of about 200 characters. */
const BODY_BYTES = 500;

const events = Number(process.argv[2] ?? 1_000_000);

/**
 * Fills a file in which most events have ended and left only their ids. A tenth still have bodies and steps, and a
 * hundredth are pending.
 */
function fill(file: string): void {
  const { db, close } = openFile(file);
  const now = Date.now();
  const event = db.prepare(
    `INSERT INTO event (id, lane, ord, type, body, source, state, attempts, fence, received_at, done_at)
     VALUES (?, ?, ?, 'dm.message', ?, 'webhook', ?, 1, 1, ?, ?)`,
  );
  const step = db.prepare(
    `INSERT INTO step (event_id, name, state, request, result, ref, fence, started_at)
     VALUES (?, 'step/reply', 'done', 'thank you', '{"id":"msg_1"}', ?, 1, ?)`,
  );
  const body = "x".repeat(BODY_BYTES);
  db.transaction(() => {
    for (let n = 0; n < events; n += 1) {
      const id = `evt_${String(n).padStart(12, "0")}`;
      const state = n % 100 === 0 ? "pending" : "done";
      const kept = n % 10 === 0;
      const values = [id, `dm:conv_${n % LANES}`, orderKey(id), kept ? body : null, state, now];
      event.run(...values, state === "done" ? now : null);
      if (kept) step.run(id, `msg_${n}`, now);
    }
    db.exec(
      `INSERT INTO lane (key, pending, ready_at, fence)
       SELECT lane, count(*) FILTER (WHERE state = 'pending'),
         CASE WHEN count(*) FILTER (WHERE state = 'pending') > 0 THEN 0 END, 1 FROM event GROUP BY lane`,
    );
  })();
  close();
}

async function copy(from: string, to: string): Promise<void> {
  const tell = 'process.on("exit",()=>console.error(process.resourceUsage().maxRSS))';
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    ...["--import", `data:text/javascript,${tell}`, CLI],
    ...["inbox", "copy", "--from", `file:${from}`, "--to", to, "--json"],
  ]);
  const { ms, rows: counts }: { ms: number; rows: Record<string, number> } = JSON.parse(stdout);
  const rows = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const seconds = ms / 1_000;
  console.log(`rows copied                ${rows}`);
  console.log(
    `time                       ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s`,
  );
  console.log(`memory of the command      ${Math.round(Number(stderr) / 1_024)} MB at most`);
}

async function sizes(url: string): Promise<void> {
  const rows = await look<{ name: string; heap: string; indexes: string; n: string }>(
    { url },
    `SELECT relname AS name, pg_table_size(oid) AS heap, pg_indexes_size(oid) AS indexes,
       reltuples::bigint AS n
     FROM pg_class WHERE relnamespace = 'service_bot'::regnamespace AND relkind = 'r'
       AND relname IN ('event', 'lane', 'step')`,
  );
  for (const { name, heap, indexes, n } of rows) {
    const per = (bytes: string) => Math.round(Number(bytes) / Number(n));
    console.log(`a row of ${name.padEnd(17)} ${per(heap)} bytes, in indexes ${per(indexes)}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "service-bot-measure-"));
const server = await PostgresServer.start("18");
try {
  fill(join(folder, "bot.db"));
  await copy(join(folder, "bot.db"), server.url());
  await sizes(server.url());
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
