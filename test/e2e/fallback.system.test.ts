import { describe, expect, test } from "vitest";
import { BotProcess } from "../support/world/bot-process.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { sqlite } from "../support/world/stores.ts";

/** Number of consecutive failures after which the platform disables the webhook. */
const DISABLE_AFTER = 3;

/**
 * Short enough for a test. The five seconds for which an event may be in flight are added, and are not configurable.
 */
const hurried = { POLL_INTERVAL_MS: "50", AUDIT_INTERVAL_MS: "100", SILENCE_MS: "300" };

/** Starts a platform for bots that share one inbox, each in a separate process. */
async function scene() {
  const platform = await PlatformProcess.start({
    flags: ["--disable-after", String(DISABLE_AFTER)],
  });
  const { url, apiKey } = platform;
  const store = sqlite();
  const startBot = (delivery: "auto" | "polling" | "webhook" = "auto") =>
    BotProcess.start(delivery === "polling" ? { url, apiKey } : platform, {
      store,
      env: { ...hurried, DELIVERY: delivery },
    });
  return { platform, startBot };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** Starts a bot whose webhook works: the bot has received a message and has read the log. */
async function healthy({ platform, startBot }: Scene): Promise<BotProcess> {
  const bot = await startBot();
  await platform.deliverTo(bot.url);
  await platform.happens("api", ({ path, status }) => path === "/events" && status === 200);
  const hello = await platform.write("ada", "by webhook");
  await platform.answered(hello);
  await platform.delivery(hello, 200);
  return bot;
}

/** Saves the webhook again as its owner would. Expects the bot to switch back to the webhook and keep using it. */
async function comesBack(platform: PlatformProcess, bot: BotProcess): Promise<void> {
  await platform.deliverTo(bot.url);
  const again = await platform.write("ada", "by webhook again");
  await platform.delivery(again, 200);
  expect(await bot.switchTo("auditing")).toMatchObject({
    level: "info",
    mode: "auditing",
    reason: "webhook deliveries have resumed",
  });
  for (const from of ["ada", "ben", "cleo"]) {
    await platform.answered(await platform.write(from, `after the hand-back, ${from}`));
    await platform.reads(2);
  }
  expect(await bot.status()).toMatchObject({
    ready: true,
    mode: "auditing",
    modeReason: "webhook deliveries have resumed",
  });
}

describe("a webhook that fails until the platform disables it", () => {
  test("is replaced by polling, and is used again once its owner has saved it", async () => {
    const it = await scene();
    const { platform } = it;
    const bot = await healthy(it);
    expect(await bot.status()).toMatchObject({ mode: "auditing" });
    await platform.control.setFaults({
      webhook: { mode: "status", status: 502, times: DISABLE_AFTER },
    });
    const lost = await platform.write("ada", "while the webhook fails");
    const disabled = await platform.happens("webhook", ({ change }) => change === "disabled");
    expect(disabled.reason).toContain(`${DISABLE_AFTER} deliveries in a row failed`);
    const takeover = await bot.switchTo("polling");
    expect(takeover).toMatchObject({
      level: "warn",
      mode: "polling",
      reason: expect.stringMatching(/^1 event did not arrive by webhook within \d+ m?s$/),
    });
    const status = await bot.status();
    expect(status).toMatchObject({ ready: true, mode: "polling", modeReason: takeover["reason"] });
    expect(Date.parse(String(status.modeSince))).toBeGreaterThan(Date.parse(disabled.at));
    const meanwhile = await Promise.all(
      ["ada", "ben", "cleo"].map((from) => platform.write(from, `while polling, ${from}`)),
    );
    for (const written of [lost, ...meanwhile]) await platform.answered(written);
    await comesBack(platform, bot);
    await bot.stop();
    expect(await platform.answers()).toEqual(platform.due);
    expect(bot.switches).toEqual(["polling", "auditing"]);
  });

  test("while the bot is down loses no event: the bot logs it, polls, and returns to the webhook", async () => {
    const it = await scene();
    const { platform } = it;
    const killed = await healthy(it);
    await killed.die();
    const missed = [
      await platform.write("ada", "while the bot is down, 1"),
      await platform.write("ben", "while the bot is down, 2"),
    ];
    const disabled = await platform.happens("webhook", ({ change }) => change === "disabled");
    expect(disabled.reason).toContain(`${DISABLE_AFTER} deliveries in a row failed`);
    missed.push(await platform.write("cleo", "while the webhook is off"));
    const bot = await it.startBot();
    expect(await bot.switchTo("polling")).toMatchObject({
      level: "warn",
      mode: "polling",
      reason: expect.stringMatching(/^3 events/),
    });
    for (const written of missed) await platform.answered(written);
    const { mode, modeReason } = await bot.status();
    expect({ mode, modeReason }).toEqual({
      mode: "polling",
      modeReason: expect.stringMatching(/^3 events/),
    });
    await platform.answered(await platform.write("ben", "while polling"));
    await comesBack(platform, bot);
    await bot.stop();
    expect(await platform.answers()).toEqual(platform.due);
    expect(killed.switches).toEqual([]);
    expect(bot.switches).toEqual(["polling", "auditing"]);
  });
});

test("with DELIVERY=polling a bot needs no secret, has no webhook, and replies to events from the log", async () => {
  const { platform, startBot } = await scene();
  const bot = await startBot("polling");
  await platform.reads(1);
  await platform.answered(await platform.write("ada", "from the log"));
  const webhook = await fetch(`${bot.url}/webhook`, { method: "POST", body: '{"events":[]}' });
  expect(webhook.status).toBe(404);
  expect((await fetch(`${bot.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${bot.url}/readyz`)).status).toBe(200);
  expect(await bot.status()).toMatchObject({
    ready: true,
    mode: "polling",
    modeReason: "DELIVERY=polling",
    lastDeliveryAt: null,
  });
  await bot.stop();
  expect(await platform.answers()).toEqual(platform.due);
  expect(await platform.happened("delivery")).toEqual([]);
});

test("with DELIVERY=webhook a bot never reads the log, even while deliveries fail", async () => {
  const { platform, startBot } = await scene();
  const bot = await startBot("webhook");
  await platform.deliverTo(bot.url);
  await platform.answered(await platform.write("ada", "by webhook"));
  // The fault ends one failure before the platform would disable the webhook, so the last retry succeeds.
  await platform.control.setFaults({
    webhook: { mode: "status", status: 502, times: DISABLE_AFTER - 1 },
  });
  await platform.answered(await platform.write("ben", "by the second round"));
  expect(await bot.status()).toMatchObject({ ready: true, mode: "webhook", log: null });
  await bot.stop();
  expect(await platform.answers()).toEqual(platform.due);
  const deliveries = await platform.happened("delivery");
  expect(deliveries.map(({ status }) => status)).toEqual([200, 502, 502, 200]);
  const requests = (await platform.happened("api")).map(({ path }) => path);
  expect(requests).not.toContain("/events");
  expect(requests.length).toBeGreaterThan(0);
});
