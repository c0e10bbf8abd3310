/**
 * Measures the cost of an event in PostgreSQL for docs/operate/scaling.md: npx node test/inbox/postgres/sizing.ts
 * [EVENTS]
 * Uses one process without handlers. The server's data is in memory if the system has /dev/shm.
 */
import type { Claim } from "../../faces/inbox.ts";
import { PostgresInbox } from "../../faces/inbox-postgres.ts";
import { message } from "../../support/inbox-events.ts";
import { look } from "../../support/postgres/look.ts";
import { PostgresServer } from "../../support/postgres/server.ts";

const LANES = 5_000;
const BATCH = 50;
const DELIVERIES_AT_ONCE = 8;
const CLAIMED_AT_ONCE = 100;
const LEASE_MS = 30_000;

const events = Number(process.argv[2] ?? 50_000);
const server = await PostgresServer.start("18");
const place = { url: server.url(), schema: "service_bot" };
let statements = 0;
const inbox = await PostgresInbox.open({
  ...place,
  maxBacklog: events + 1,
  onStatement: () => {
    statements += 1;
  },
});

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  const wal = "SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes";
  const [before] = await look<{ bytes: string }>(place, wal);
  statements = 0;
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const [after] = await look<{ bytes: string }>(place, wal);
  const bytes = (Number(after?.bytes) - Number(before?.bytes)) / events;
  console.log(
    `| ${name} | ${Math.round(events / seconds).toLocaleString("en-US")} | ` +
      `${(statements / events).toFixed(3)} | ${Math.round(bytes)} |`,
  );
}

async function store(): Promise<void> {
  let next = 0;
  const deliver = async () => {
    while (next < events) {
      const from = next;
      next += BATCH;
      const ids = Array.from({ length: Math.min(BATCH, events - from) }, (_, n) => from + n);
      await inbox.put(
        ids.map((n) => message(String(n).padStart(12, "0"), `c_${n % LANES}`)),
        "webhook",
      );
    }
  };
  await Promise.all(Array.from({ length: DELIVERIES_AT_ONCE }, deliver));
}

async function drain(): Promise<void> {
  for (let done = 0; done < events; ) {
    const claims = await inbox.claim(CLAIMED_AT_ONCE, LEASE_MS);
    done += (await Promise.all(claims.map(follow))).reduce((sum, ended) => sum + ended, 0);
  }
}

async function follow(first: Claim): Promise<number> {
  let ended = 0;
  for (let claim: Claim | undefined = first; claim !== undefined; ended++) {
    claim = (await inbox.advance(claim)).next;
  }
  return ended;
}

const keep = { bodiesMs: -60_000, idsMs: -60_000, deadLettersMs: -60_000 };

async function sweep(): Promise<void> {
  while (await inbox.sweep(keep));
}

try {
  console.log(
    "| part of an event's life | events/s | statements per event | WAL bytes per event |",
  );
  console.log("|---|---|---|---|");
  await measure(`stored, in batches of ${BATCH}`, store);
  await measure("claimed and completed", drain);
  await measure("dropped after its retention", sweep);
} finally {
  await inbox.close();
  await server.stop();
}
