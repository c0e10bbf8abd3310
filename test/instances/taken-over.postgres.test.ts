import { expect, onTestFinished, test } from "vitest";
import { Bot, type BotOptions } from "../../src/index.ts";
import { gate } from "../dispatcher/harness.ts";
import { first } from "../support/first.ts";
import { logSink } from "../support/log.ts";
import { emptyPlace, type Place, through } from "../support/postgres/open.ts";
import { botOptions, runPlatform } from "../support/running-bot.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

type Fetch = NonNullable<BotOptions["fetch"]>;

const isReply = (url: string, method: string | undefined) =>
  method === "POST" && url.endsWith("/messages");

test("a reply that is in flight when its instance is taken for dead is sent once, even if it arrives late", async () => {
  const platform = await runPlatform();
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  const start = async ({ url, schema }: Place, fetch: Fetch) => {
    const store = { databaseUrl: url, databaseSchema: schema, leaseMs: 3_600_000 };
    const logger = logSink().log;
    const bot = new Bot({
      ...{ ...botOptions(platform), ...store, fetch, logger },
      ...{ requestTimeoutMs: 10_000, shutdownGraceMs: 0 },
    });
    bot.on("dm.message", (ctx) => ctx.reply("hello"));
    await bot.start({ standalone: false });
    onTestFinished(() => bot.stop());
    return bot;
  };
  const [sending, searched] = [gate(), gate()];
  // The request continues even if the bot aborts it, like one that the platform has received.
  const one = await start(through(place, proxy), async (url, { signal, ...init }) => {
    if (isReply(url, init.method)) await sending.pass();
    return await fetch(url, init);
  });
  platform.control.saveWebhook({ url: `${one.url}/webhook` });
  const { conversationId = "", events } = platform.control.act({ type: "dm.message", from: "ada" });
  await sending.entered;
  const other = await start(place, async (url, init) => {
    const response = await fetch(url, init);
    if (init.method === "GET" && url.includes("/messages")) void searched.pass();
    return response;
  });
  proxy.cut();
  await searched.entered;
  sending.open();
  const { id } = first(events);
  while ((await other.inbox.show(id)).state !== "done");
  const answers = platform.control.messages(conversationId).filter(({ fromBot }) => fromBot);
  expect(answers).toHaveLength(1);
  proxy.mend();
});
