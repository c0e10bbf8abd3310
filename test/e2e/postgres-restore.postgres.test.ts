import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { markDatabase } from "../faces/inbox-postgres.ts";
import type { Platform } from "../faces/platform.ts";
import { answerTo } from "../faults/bot/behaviours.ts";
import { checkSaid } from "../faults/driver/checker.ts";
import { Ledger } from "../faults/driver/ledger.ts";
import { connected } from "../support/postgres/look.ts";
import { emptyPlace, openAt, type Place } from "../support/postgres/open.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { postgres } from "../support/world/stores.ts";

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
    (it) => it.on("dm.message", (ctx) => ctx.reply(answerTo(ctx.payload.excerpt, 1))),
    { ...postgres(place), startFrom: "oldest", leaseMs: 2_000 },
  );
  return bot;
}

test("a bot on an inbox restored from a PostgreSQL dump sends no reply twice, once the inbox is marked", {
  timeout: 60_000,
}, async () => {
  const platform = await runPlatform();
  const ledger = new Ledger(platform, 1);
  const [lost, place] = [await emptyPlace(), await emptyPlace()];
  await (await openAt(place)).close();
  /** Every second message gets the same reply, so finding it once does not show which of them was answered. */
  const write = async (count: number) => {
    for (let n = 0; n < count; n++) {
      ledger.write({
        from: PEOPLE[n % PEOPLE.length] ?? "",
        behaviour: n % 2 ? "answer" : "alike",
      });
      await wait(5);
    }
  };
  const first = await start(platform, lost);
  await write(12);
  await dumpInto(place, lost);
  await write(12);
  expect(await ledger.waitSaid(ledger.due, 20_000)).toBe(true);
  await first.stop();
  await write(6);
  await markDatabase(place, { at: Date.now() });
  const second = await start(platform, place);
  await write(6);
  const done = async () => (await second.inbox.stats()).done;
  while ((await done()) < ledger.written.length) {
    expect(await second.inbox.stats()).toMatchObject({ dead: 0 });
    await wait(50);
  }
  expect(checkSaid({ written: ledger.written, said: ledger.sayings() })).toEqual([]);
});
