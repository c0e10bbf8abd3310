import { expect, test } from "vitest";
import { runBot, runPlatform } from "../support/running-bot.ts";

test("an event goes the whole way: signed, stored, answered once, found by polling, taken back by the webhook", async () => {
  const platform = await runPlatform({ retryIntervalMs: 50, disableAfter: 3 });
  const modes: string[] = [];
  const { bot } = await runBot(
    platform,
    (bot) => void bot.on("dm.message", (ctx) => ctx.reply(`to ${ctx.payload.excerpt}`)),
    {
      auditIntervalMs: 50,
      pollIntervalMs: 50,
      silenceMs: 500,
      onSwitch: (mode) => void modes.push(mode),
    },
  );
  const write = (text: string) => {
    const { events, conversationId = "" } = platform.control.act({
      type: "dm.message",
      from: "ada",
      text,
    });
    return { eventIds: events.map(({ id }) => id), conversationId };
  };
  const answered = (text: string, conversationId: string) =>
    expect.poll(() => sent(conversationId), { timeout: 10_000 }).toContain(`to ${text}`);
  const sent = (conversationId: string) =>
    platform.control
      .messages(conversationId)
      .filter(({ fromBot }) => fromBot)
      .map(({ text }) => text);

  const { eventIds, conversationId } = write("hello");
  await answered("hello", conversationId);
  const repeats = await platform.control.deliver({ eventIds, times: 5 });
  expect(new Set(repeats.map(({ status }) => status))).toEqual(new Set([200]));
  const forged = await fetch(`${bot.url}/webhook`, {
    method: "POST",
    headers: { "x-service-signature": `t=${Math.floor(Date.now() / 1000)},v1=${"0".repeat(64)}` },
    body: JSON.stringify({ events: [] }),
  });
  expect(forged.status).toBe(401);

  platform.control.setFaults({ webhook: { mode: "status", status: 502, times: 3 } });
  const disabled = platform.waitFor("webhook", ({ change }) => change === "disabled");
  write("while the webhook fails");
  await disabled;
  write("while the webhook is off");
  await answered("while the webhook is off", conversationId);
  await expect.poll(() => bot.mode, { timeout: 10_000 }).toBe("polling");

  platform.control.saveWebhook({ url: `${bot.url}/webhook` });
  write("by webhook again");
  await expect.poll(() => bot.mode, { timeout: 10_000 }).toBe("auditing");
  await bot.idle();
  await bot.stop();
  expect(modes.slice(-2)).toEqual(["polling", "auditing"]);
  expect(sent(conversationId)).toEqual([
    "to hello",
    "to while the webhook fails",
    "to while the webhook is off",
    "to by webhook again",
  ]);
});
