import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import pg from "pg";
import { messageEvent } from "../bench/support/message.ts";
import { makeEvents } from "../bench/support/queue.ts";
import { steadyClock } from "../src/core/clock.ts";
import { createLogger } from "../src/core/logger.ts";
import { Dispatcher } from "../src/dispatcher/dispatcher.ts";
import { orderKey } from "../src/events/id.ts";
import { PostgresInbox } from "../src/inbox/postgres/postgres-inbox.ts";
import { PostgresServer } from "./support/postgres/server.ts";

const N = Number(process.argv[2] ?? 20000),
  LANES = Number(process.argv[3] ?? 4000),
  ROUNDS = Number(process.argv[4] ?? 6);
const server = await PostgresServer.start("18");
let trips = 0;
const inbox = await PostgresInbox.open({
  url: server.url(),
  schema: "b",
  maxBacklog: 1e7,
  onStatement: () => {
    trips++;
  },
});
const c = new pg.Client(server.url());
await c.connect();
const toNew = (e: any) => ({
  id: e.id,
  type: "dm.message",
  lane: `dm:${e.conversation}`,
  ord: orderKey(e.id),
  body: JSON.stringify(messageEvent(e)),
});
const cpuOf = async () => {
  const { rows } = await c.query(
    "select pid, backend_type from pg_stat_activity where pid <> pg_backend_pid()",
  );
  const m: Record<string, number> = {};
  for (const { pid, backend_type } of rows) {
    try {
      const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
      m[backend_type] = (m[backend_type] ?? 0) + (Number(f[11]) + Number(f[12])) * 10;
    } catch {}
  }
  return m;
};
for (const q of (process.env["SQL"] ?? "").split(";").filter(Boolean)) await c.query(q);
const clock = steadyClock();
const log = createLogger({ level: "silent", secrets: [] });
for (let r = 0; r < ROUNDS; r++) {
  const ev = makeEvents(N, LANES).map(toNew);
  const i0 = performance.now();
  for (let i = 0; i < N; i += 50) await inbox.put(ev.slice(i, i + 50), "webhook");
  const ing = (N / (performance.now() - i0)) * 1000;
  await c.query("VACUUM ANALYZE");
  await c.query("CHECKPOINT");
  let session: Session | undefined;
  if (process.env["PROF"] && r === ROUNDS - 1) {
    session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: 200 });
    await session.post("Profiler.start");
  }
  const b = await cpuOf();
  const u = process.cpuUsage();
  const t0 = trips;
  const s = performance.now();
  const d = new Dispatcher({
    inbox,
    clock,
    log,
    handler: { run: () => Promise.resolve(), failed: () => Promise.resolve() },
    concurrency: Number(process.env["C"] ?? 1000),
    maxAttempts: 8,
    handlerTimeoutMs: 60000,
    backoff: { baseMs: 1000, maxMs: 300000, factor: 2 },
  });
  d.start();
  await d.idle();
  const ms = performance.now() - s;
  if (session) {
    const { profile } = await session.post("Profiler.stop");
    writeFileSync(process.env["PROF"] + "/a.cpuprofile", JSON.stringify(profile));
  }
  await d.drain(0);
  const a = await cpuOf();
  const uu = process.cpuUsage(u);
  const diff = Object.fromEntries(
    Object.entries(a)
      .map(([k, v]) => [k, v - (b[k] ?? 0)])
      .filter(([, v]) => (v as number) > 20),
  );
  console.log(
    `ingest ${ing.toFixed(0)}/s  drain ${((N / ms) * 1000).toFixed(0)}/s  ${ms.toFixed(0)} ms, us/event ${((ms * 1000) / N).toFixed(1)}; node cpu ${((uu.user + uu.system) / N).toFixed(1)} us/event; trips ${trips - t0}; server ms`,
    JSON.stringify(diff),
    "pending",
    (await inbox.stats()).pending,
  );
}
await c.end();
await inbox.close();
await server.stop();
