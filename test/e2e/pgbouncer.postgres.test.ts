import { join } from "node:path";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { serviceBotEnds } from "../cli/cli.ts";
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

const answersTwice = (bot: Bot) =>
  void bot.on("dm.message", async (ctx) => {
    await ctx.reply(`first ${ctx.payload.excerpt}`);
    await ctx.reply(`second ${ctx.payload.excerpt}`);
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

      const conversations = new Map<string, string[]>();
      let said = 0;
      const listeners = new Set<() => void>();
      platform.onTimeline((entry) => {
        if (entry.kind !== "api" || entry.created?.messageId === undefined) return;
        said += 1;
        for (const listener of listeners) listener();
      });
      const reached = (count: number) =>
        new Promise<void>((resolve) => {
          const look = () => said >= count && resolve();
          listeners.add(look);
          look();
        });
      const write = (count: number) => {
        for (let n = 0; n < count; n++) {
          const text = `${conversations.size} ${n}`;
          const acted = platform.control.act({ type: "dm.message", from: `person${n % 7}`, text });
          const { conversationId = "" } = acted;
          const texts = conversations.get(conversationId) ?? [];
          conversations.set(conversationId, [...texts, `first ${text}`, `second ${text}`]);
        }
        return [...conversations.values()].flat().length;
      };
      await reached(write(20));

      const due = write(20);
      await reached(said + 5);
      expect(await endSessions(place)).toBeGreaterThan(0);
      await reached(due);

      const rest = write(20);
      await reached(said + 5);
      await pooler.end();
      await pooler.begin();
      await reached(rest);

      for (const { bot } of bots) await bot.idle();
      for (const [conversation, texts] of conversations) {
        const messages = platform.control.messages(conversation);
        expect(messages.filter(({ fromBot }) => fromBot).map(({ text }) => text)).toEqual(texts);
      }
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
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
      [`service-bot ${schema}`],
    );
    return rows.length;
  } finally {
    await client.end();
  }
}
