import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { listening } from "../support/postgres/listening.ts";
import { emptyPlace, openAt, through } from "../support/postgres/open.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { postgres } from "../support/world/stores.ts";

async function database() {
  const place = await emptyPlace();
  const proxy = await TcpProxy.to(Number(new URL(place.url).port));
  return { place, proxy, at: through(place, proxy) };
}

const nowhere = { url: "http://127.0.0.1:9", apiKey: "key" };

describe("while the connections to the database are frozen", () => {
  test("an inbox is closed all the same", async () => {
    const { place, proxy, at } = await database();
    const inbox = await openAt(at, { clock: new ManualClock(), timeoutMs: 1_000 });
    await listening(place, 1);
    proxy.freeze();
    await inbox.close();
  });

  test("a bot stops within the time of its handlers and a few seconds", async () => {
    const { place, proxy, at } = await database();
    const clock = new ManualClock();
    const log = logSink();
    const bot = new Bot({
      ...{ env: {}, baseUrl: nowhere.url, apiKey: nowhere.apiKey, ...postgres(at) },
      ...{ delivery: "auto", webhookSecret: "whsec_of_this_test", maxRequestsPerMinute: 600 },
      ...{ clock, logger: log.log, shutdownGraceMs: 2_000 },
    });
    await bot.start({ listen: false });
    await listening(place, 1);
    proxy.freeze();
    const before = log.records.length;
    const stopping = bot.stop();
    await clock.advance(7_000);
    await stopping;
    expect(log.records.slice(before).at(-1)).toMatchObject({ level: "info" });
    await expect(bot.inbox.stats()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("SIGTERM ends its process with 0", async () => {
    const { place, proxy, at } = await database();
    const script = fileURLToPath(new URL("./brief-bot.ts", import.meta.url));
    const options = { DELIVERY: "polling", POLL_INTERVAL_MS: "100" };
    const bot = await BotProcess.start(nowhere, { script, store: postgres(at), env: options });
    await listening(place, 1);
    proxy.freeze();
    expect(await bot.end("SIGTERM"), bot.output()).toEqual({ code: 0, signal: null });
  });
});
