import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { serviceBotEnds } from "../cli/cli.ts";
import { answerTo } from "../faults/bot/behaviours.ts";
import { checkSaid } from "../faults/driver/checker.ts";
import { Ledger } from "../faults/driver/ledger.ts";
import { look } from "../support/postgres/look.ts";
import { emptyPlace, type Place, through } from "../support/postgres/open.ts";
import { PgBouncer, whyNoPgBouncer } from "../support/postgres/pgbouncer.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const reason = whyNoPgBouncer();

test.runIf(reason !== undefined)(`${reason}`, () => undefined);

const kinds = [
  { name: "as it comes", settings: {} },
  { name: "with two sessions", settings: { default_pool_size: 2 } },
];

/** In ms. Longer than a busy machine takes to reply to twenty messages. */
const ANSWERS_TIMEOUT_MS = 20_000;

const answersTwice = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    for (const n of [1, 2]) await ctx.reply(answerTo(ctx.payload.excerpt, n));
  });

describe.skipIf(reason !== undefined)("two bots behind PgBouncer in transaction mode", () => {
  test.each(kinds)(
    "$name reply to every message once, even when sessions or PgBouncer itself end",
    {
      timeout: 60_000,
    },
    async ({ settings }) => {
      const place = await emptyPlace();
      const pooler = await PgBouncer.start(place.url, settings);
      onTestFinished(() => pooler.stop());
      const platform = await runPlatform({ retryIntervalMs: 100 });
      const { url: databaseUrl, schema: databaseSchema } = through(place, pooler);
      const intervals = { auditIntervalMs: 100, pollIntervalMs: 50, silenceMs: 1_000 };
      const options = { databaseUrl, databaseSchema, ...intervals };
      const bots = [await runBot(platform, answersTwice, options)];
      bots.push(await runBot(platform, answersTwice, options));

      const ledger = new Ledger(platform, 2);
      const write = () => {
        for (let n = 0; n < 20; n++) ledger.write({ from: `person${n % 7}` });
      };
      const said = async (count: number) =>
        expect(await ledger.waitSaid(count, ANSWERS_TIMEOUT_MS)).toBe(true);
      write();
      await said(ledger.due);

      write();
      await said(ledger.said + 5);
      expect(await endSessions(place)).toBeGreaterThan(0);
      await said(ledger.due);

      write();
      await said(ledger.said + 5);
      await pooler.end();
      await pooler.begin();
      await said(ledger.due);

      for (const { bot } of bots) await bot.idle();
      expect(checkSaid({ written: ledger.written, said: ledger.sayings() })).toEqual([]);
      for (const { bot, log } of bots) {
        expect((await bot.status()).inbox).toMatchObject({ pending: 0, deadLetters: 0 });
        expect(log.text()).not.toContain("hunter2");
      }
    },
  );
});

describe.skipIf(reason !== undefined)("while a bot is running behind PgBouncer", () => {
  test.each(["behind it", "beside it"])(
    "service-bot inbox and inbox copy detect the bot, %s",
    {
      timeout: 60_000,
    },
    async (where) => {
      const place = await emptyPlace();
      const pooler = await PgBouncer.start(place.url);
      onTestFinished(() => pooler.stop());
      const platform = await runPlatform();
      const pooled = through(place, pooler);
      const folder = temporaryFolder();
      const source = await runBot(platform, answersTwice, {
        databaseUrl: `file:${join(folder, "source.db")}`,
      });
      await source.bot.stop();
      const { bot } = await runBot(platform, answersTwice, {
        ...{ databaseUrl: pooled.url, databaseSchema: place.schema },
      });
      const { url, schema } = where === "behind it" ? pooled : place;
      const run = (...args: string[]) =>
        serviceBotEnds(["inbox", ...args], {
          ...{ cwd: folder, env: { DATABASE_URL: url, DATABASE_SCHEMA: schema } },
        });
      const running = async () => JSON.parse((await run("--json")).out).running;
      const copy = () => run("copy", "--from", "file:source.db", "--to", url);
      expect(await running()).toBe(true);
      expect(await copy()).toMatchObject({
        code: 1,
        err: expect.stringContaining("A bot uses"),
      });
      // Neither attempt to copy affected the running bot.
      const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
      await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
      await bot.idle();
      await bot.stop();
      expect(await running()).toBe(false);
      expect(await copy()).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") });
    },
  );
});

async function endSessions({ url, schema }: Place): Promise<number> {
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
  return (await look({ url }, end, [`service-bot ${schema}`])).length;
}
