import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { markDatabase } from "../faces/inbox-postgres.ts";
import type { Platform } from "../faces/platform.ts";
import { connected } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../support/postgres/open.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";

const TABLES = ["event", "attempt", "step", "lane", "cursor", "webhook_type", "suspect"];
const PEOPLE = ["ada", "ben", "cleo"];

/** Copies a consistent snapshot, as a dump does, into another inbox that has no events. */
async function dumpInto(to: Place, from: Place): Promise<void> {
  await connected(from, async (client) => {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    for (const table of TABLES) {
      await client.query(`DELETE FROM ${to.schema}.${table}`);
      await client.query(
        `INSERT INTO ${to.schema}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${from.schema}.${table}`,
      );
    }
    await client.query(
      `SELECT setval(pg_get_serial_sequence('${to.schema}.event', 'seq'), (SELECT max(seq) FROM ${to.schema}.event))`,
    );
    await client.query("COMMIT");
  });
}

async function start(platform: Platform, place: Place): Promise<Bot> {
  const { bot } = await runBot(
    platform,
    (it) =>
      it.on("dm.message", async (ctx) => {
        const { excerpt } = ctx.payload;
        await ctx.reply(excerpt.startsWith("thanks") ? "you are welcome" : `about ${excerpt}`);
      }),
    { databaseUrl: place.url, databaseSchema: place.schema, startFrom: "oldest", leaseMs: 2_000 },
  );
  return bot;
}

test("a bot on an inbox restored from a PostgreSQL dump sends no reply twice, once the inbox is marked", {
  timeout: 60_000,
}, async () => {
  const platform = await runPlatform();
  const [lost, place] = [await emptyPlace(), await emptyPlace()];
  await (await openAt(place)).close();
  const due = new Map<string, string[]>();
  let n = 0;
  const write = async (count: number) => {
    for (let left = count; left > 0; left--) {
      const text = `${n % 2 === 0 ? "thanks" : "question"} ${n}`;
      const from = PEOPLE[n % PEOPLE.length] ?? "";
      const act = { type: "dm.message", from, text } as const;
      const { conversationId = "" } = platform.control.act(act);
      const answer = n % 2 === 0 ? "you are welcome" : `about ${text}`;
      due.set(conversationId, [...(due.get(conversationId) ?? []), answer]);
      n += 1;
      await wait(5);
    }
  };
  const said = () =>
    [...due.keys()].flatMap((id) => platform.control.messages(id).filter(({ fromBot }) => fromBot));
  const first = await start(platform, lost);
  await write(12);
  await dumpInto(place, lost);
  await write(12);
  while (said().length < n) await wait(20);
  await first.stop();
  await write(6);
  await markDatabase(place, { at: Date.now() });
  const second = await start(platform, place);
  await write(6);
  const done = async () => (await second.inbox.stats()).done;
  while ((await done()) < n) {
    expect(await second.inbox.stats()).toMatchObject({ dead: 0 });
    await wait(50);
  }
  for (const [id, answers] of due) {
    const actual = platform.control.messages(id).filter(({ fromBot }) => fromBot);
    expect(actual.map(({ text }) => text)).toEqual(answers);
  }
});
