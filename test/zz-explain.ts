import pg from "pg";
import { messageEvent } from "../bench/support/message.ts";
import { makeEvents } from "../bench/support/queue.ts";
import { orderKey } from "../src/events/id.ts";
import { PostgresInbox } from "../src/inbox/postgres/postgres-inbox.ts";
import { PostgresServer } from "./support/postgres/server.ts";

const server = await PostgresServer.start("18");
const seen: { t: string; v: readonly unknown[]; at: number }[] = [];
let capture = false;
const inbox = await PostgresInbox.open({
  url: server.url(),
  schema: "b",
  maxBacklog: 1e7,
  onStatement: (t, v) => {
    if (capture) seen.push({ t, v, at: 0 });
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
const ev = makeEvents(20000, 4000).map(toNew);
for (let i = 0; i < 20000; i += 1000) await inbox.put(ev.slice(i, i + 1000), "webhook");
for (const q of (process.env["SQL"] ?? "").split(";").filter(Boolean)) await c.query(q);
await c.query("VACUUM ANALYZE");
await c.query("CHECKPOINT");
async function explain(t: string, v: readonly unknown[]) {
  const r = await c.query(
    `EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING ${process.env["T"] ?? "OFF"}) ${t}`,
    v as unknown[],
  );
  return r.rows.map((x: any) => x["QUERY PLAN"]).join("\n");
}
capture = true;
for (let round = 0; round < 3; round++) {
  // claim explained in a tx rolled back
  seen.length = 0;
  await c.query("BEGIN");
  const dummy = inbox;
  const before = performance.now();
  const claims =
    round === 0
      ? await [...(await inbox.claim(500, 30000)), ...(await inbox.claim(500, 30000))]
      : [...(await inbox.claim(500, 30000)), ...(await inbox.claim(500, 30000))];
  const ms = performance.now() - before;
  await c.query("ROLLBACK");
  const claimSt = seen.find((s) => s.t.includes("SKIP LOCKED"))!;
  const t2 = performance.now();
  await c.query("BEGIN");
  const plan = await explain(claimSt.t, claimSt.v);
  await c.query("ROLLBACK");
  console.log(
    "claim",
    claims.length,
    ms.toFixed(1),
    "ms; explain",
    (performance.now() - t2).toFixed(1),
  );
  if (round === 2) console.log(plan);
  seen.length = 0;
  const t1 = performance.now();
  const cl = await Promise.all(claims.slice(0, 500).map((x) => inbox.advance(x)));
  console.log(
    "advance 500:",
    (performance.now() - t1).toFixed(1),
    cl.every((x) => x.held),
  );
  const end = seen.find((s) => s.t.includes("advanced"))!;
  const more = claims.slice(500);
  const v = [
    end.v[0],
    more.map((x) => x.lane),
    more.map((x) => x.fence),
    more.map((x) => x.id),
    more.map((x) => x.attempt),
    more.map(() => true),
  ];
  const plan2 = await explain(end.t, v);
  console.log(plan2.split("\n").slice(-3).join(" "));
  if (round === 2) console.log(plan2);
}
await c.end();
await inbox.close();
await server.stop();
