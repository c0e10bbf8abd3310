import { describe, expect, test } from "vitest";
import { type BotProcess, DISABLE_AFTER, Stage } from "./stage.ts";

/** Starts a bot whose webhook works: the bot has received a message and has read the log. */
async function healthy(stage: Stage): Promise<BotProcess> {
  const bot = await stage.startBot();
  await stage.saveWebhook(bot);
  await stage.happens("api", ({ path, status }) => path === "/events" && status === 200);
  const hello = await stage.write("ada", "by webhook");
  await stage.answered(hello);
  await stage.happens("delivery", ({ eventIds, status }) => {
    return eventIds.includes(hello.eventId) && status === 200;
  });
  return bot;
}

/** Saves the webhook again as its owner would. Expects the bot to switch back to the webhook and keep using it. */
async function comesBack(stage: Stage, bot: BotProcess): Promise<void> {
  await stage.saveWebhook(bot);
  const again = await stage.write("ada", "by webhook again");
  await stage.happens("delivery", ({ eventIds, status }) => {
    return eventIds.includes(again.eventId) && status === 200;
  });
  expect(await bot.handBack()).toMatchObject({
    level: "info",
    mode: "auditing",
    reason: "webhook deliveries have resumed",
  });
  for (const from of ["ada", "ben", "cleo"]) {
    await stage.answered(await stage.write(from, `after the hand-back, ${from}`));
    await stage.reads(2);
  }
  expect(await bot.status()).toMatchObject({
    ready: true,
    mode: "auditing",
    modeReason: "webhook deliveries have resumed",
  });
}

describe("a webhook that fails until the platform disables it", () => {
  test("is replaced by polling, and is used again once its owner has saved it", async () => {
    const stage = await Stage.build();
    const bot = await healthy(stage);
    expect(await bot.status()).toMatchObject({ mode: "auditing" });
    await stage.control.setFaults({
      webhook: { mode: "status", status: 502, times: DISABLE_AFTER },
    });
    const lost = await stage.write("ada", "while the webhook fails");
    const disabled = await stage.happens("webhook", ({ change }) => change === "disabled");
    expect(disabled.reason).toContain(`${DISABLE_AFTER} deliveries in a row failed`);
    const takeover = await bot.takeover();
    expect(takeover).toMatchObject({
      level: "warn",
      mode: "polling",
      reason: expect.stringMatching(/^1 event did not arrive by webhook within \d+ m?s$/),
    });
    const status = await bot.status();
    expect(status).toMatchObject({ ready: true, mode: "polling", modeReason: takeover.reason });
    expect(Date.parse(String(status.modeSince))).toBeGreaterThan(Date.parse(disabled.at));
    const meanwhile = await Promise.all(
      ["ada", "ben", "cleo"].map((from) => stage.write(from, `while polling, ${from}`)),
    );
    for (const written of [lost, ...meanwhile]) await stage.answered(written);
    await comesBack(stage, bot);
    await bot.stop();
    expect(await stage.answers()).toEqual(stage.due);
    expect(bot.switches).toEqual(["polling", "auditing"]);
  });

  test("while the bot is down loses no event: the bot logs it, polls, and returns to the webhook", async () => {
    const stage = await Stage.build();
    const killed = await healthy(stage);
    await killed.kill();
    const missed = [
      await stage.write("ada", "while the bot is down, 1"),
      await stage.write("ben", "while the bot is down, 2"),
    ];
    const disabled = await stage.happens("webhook", ({ change }) => change === "disabled");
    expect(disabled.reason).toContain(`${DISABLE_AFTER} deliveries in a row failed`);
    missed.push(await stage.write("cleo", "while the webhook is off"));
    const bot = await stage.startBot();
    expect(await bot.takeover()).toMatchObject({
      level: "warn",
      mode: "polling",
      reason: expect.stringMatching(/^3 events/),
    });
    for (const written of missed) await stage.answered(written);
    const { mode, modeReason } = await bot.status();
    expect({ mode, modeReason }).toEqual({
      mode: "polling",
      modeReason: expect.stringMatching(/^3 events/),
    });
    await stage.answered(await stage.write("ben", "while polling"));
    await comesBack(stage, bot);
    await bot.stop();
    expect(await stage.answers()).toEqual(stage.due);
    expect(killed.switches).toEqual([]);
    expect(bot.switches).toEqual(["polling", "auditing"]);
  });
});

test("with DELIVERY=polling a bot needs no secret, has no webhook, and replies to events from the log", async () => {
  const stage = await Stage.build();
  const bot = await stage.startBot("polling");
  await stage.reads(1);
  await stage.answered(await stage.write("ada", "from the log"));
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
  expect(await stage.answers()).toEqual(stage.due);
  expect(await stage.happened("delivery")).toEqual([]);
});

test("with DELIVERY=webhook a bot never reads the log, even while deliveries fail", async () => {
  const stage = await Stage.build();
  const bot = await stage.startBot("webhook");
  await stage.saveWebhook(bot);
  await stage.answered(await stage.write("ada", "by webhook"));
  // The fault ends one failure before the platform would disable the webhook, so the last retry succeeds.
  await stage.control.setFaults({
    webhook: { mode: "status", status: 502, times: DISABLE_AFTER - 1 },
  });
  await stage.answered(await stage.write("ben", "by the second round"));
  expect(await bot.status()).toMatchObject({ ready: true, mode: "webhook", log: null });
  await bot.stop();
  expect(await stage.answers()).toEqual(stage.due);
  const deliveries = await stage.happened("delivery");
  expect(deliveries.map(({ status }) => status)).toEqual([200, 502, 502, 200]);
  const requests = (await stage.happened("api")).map(({ path }) => path);
  expect(requests).not.toContain("/events");
  expect(requests.length).toBeGreaterThan(0);
});
