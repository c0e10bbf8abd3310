import { describe, expect, test } from "vitest";
import { sign } from "../faces/signature.ts";
import { kindOf } from "../support/log.ts";
import { expectQuiet } from "./canary/expect-quiet.ts";
import { inFile } from "./canary/in-file.ts";
import { showAll } from "./canary/operator.ts";
import { deliver, ends, lookAtPages, say } from "./canary/outcomes.ts";
import { type Listening, phrase, Stage } from "./canary/stage.ts";

const TIMEOUT_MS = 60_000;

describe("a bot reveals neither secrets nor message texts", () => {
  test("whose disk is nearly full", { timeout: TIMEOUT_MS }, async () => {
    const it = await Stage.set(inFile);
    const bot = it.launch({ MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER) });
    const listening = await it.listening(bot);
    expect(await deliver(it, listening.url)).toContain(503);
    await endQuietly(it, listening);
    expectQuiet(it, [
      "STORE_UNAVAILABLE",
      "The disk with the inbox has",
      "could not store a delivery",
    ]);
  });

  test("whose disk is full", { timeout: TIMEOUT_MS }, async () => {
    const it = await Stage.set(inFile);
    const listening = await it.listening(it.launch());
    const { bot, url } = listening;
    say(it, "fill");
    // The bot cannot record the outcome of the run, because the disk is full.
    await bot.logLine((line) => line.level === "error" && kindOf(line) === "handler");
    expect(await deliverLong(it, url)).toBe(503);
    await lookAtPages(it, listening);
    bot.kill("SIGUSR2");
    await ends(bot, "dead letter", 1);
    expect(await deliverLong(it, url)).toBe(200);
    await showAll(it, 1);
    await endQuietly(it, listening);
    expectQuiet(it, [
      ...["STORE_UNAVAILABLE", "database or disk is full", "could not store a delivery"],
      ...["there is no room for", 'service_bot_store_failures_total{reason="disk_full"}'],
    ]);
  });
});

async function deliverLong(it: Stage, url: string): Promise<number> {
  const { platform, songs } = it;
  const body = JSON.stringify({
    events: [{ id: "long", text: phrase(songs.message).repeat(200) }],
  });
  const signature = sign(body, platform.webhookSecret, Date.now() / 1000);
  const headers = { "x-service-signature": signature };
  return (await it.ask(`${url}/webhook`, { method: "POST", body, headers })).status;
}

async function endQuietly(it: Stage, { bot, ...rest }: Listening): Promise<void> {
  await lookAtPages(it, { bot, ...rest });
  expect(await bot.end("SIGTERM")).toMatchObject({ code: 0 });
}
