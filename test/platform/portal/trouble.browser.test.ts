import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { array, object, string } from "zod";
import type { Platform } from "../../faces/platform.ts";
import { request } from "../support/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const banners = (page: Page) => page.getByRole("status", { name: "Active problems" });
const effects = (page: Page) => page.getByRole("region", { name: "Activity" });

const Asked = object({ questions: array(string()).default([]) });

test("the first view names five problems, each fixed in two clicks at most, next to states and timers", async () => {
  let isBroken = true;
  const { platform, page } = await openPortal({
    register: (bot) => {
      bot.onTimer("remind", () => undefined);
      bot.on("dm.message", async (ctx) => {
        if (isBroken) throw new TypeError("no price");
        const asked = await ctx.state("dm:c_2", Asked);
        asked.questions.push(ctx.payload.excerpt);
        await ctx.later("remind", "1h");
        await ctx.reply(`Answer to ${ctx.payload.excerpt}`);
      });
    },
    bot: { maxAttempts: 2, retry: { baseMs: 300, maxMs: 300 }, requestTimeoutMs: 30_000 },
  });
  const answers = (text: string) => page.getByRole("log").getByText(`Answer to ${text}`).waitFor();
  await seeAThrow(page);
  isBroken = false;
  await effects(page).getByRole("button", { name: "Retry" }).click();
  await answers("one");
  const kept = page.getByRole("region", { name: "State and timers" });
  await kept.getByText('"one"').waitFor();
  await kept.getByText("remind").waitFor();

  await breakWebhook(platform, page);
  await answers("two");

  platform.control.setFaults({ api: { mode: "slow", delayMs: 2_500 } });
  await ask(page, "three");
  await effects(page).getByText("Waiting for POST /dm/conversations/c_2/messages").waitFor();
  await effects(page)
    .getByText(/^Answered “Answer to three” in \d+ s: POST .* took 2 s$/)
    .waitFor();
  await banners(page).getByText("The API is slow: 2 s").waitFor();
  await banners(page).getByRole("button", { name: "Stop" }).click();
  await eventually(() => banners(page).textContent(), "");

  for (const { id } of platform.control.apps.tokens()) {
    await request(platform, "DELETE", `/control/v1/tokens/${id}`);
  }
  await banners(page).getByRole("button", { name: "Create a token" }).click();
  await page.getByLabel("Lines for the bot's .env").getByText("SERVICE_API_KEY").waitFor();
});

async function ask(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  await composer.fill(text);
  await composer.press("Enter");
}

/** The error appears next to the message, and then the dead letter. The bar and the title show how many failed. */
async function seeAThrow(page: Page): Promise<void> {
  await ask(page, "one");
  await effects(page).getByText("TypeError: no price").first().waitFor();
  await eventually(() => page.title(), "(1 failed) Chat · service-bot portal");
  await effects(page).getByText("Dead letter after attempt 2").first().waitFor();
  const talks = page.getByRole("region", { name: "Conversations" });
  await talks.getByRole("link", { name: /@ada failed/ }).waitFor();
}

async function breakWebhook(platform: Platform, page: Page): Promise<void> {
  platform.control.saveWebhook({ enabled: false });
  await banners(page).getByText("Webhook off").waitFor();
  await banners(page).getByRole("button", { name: "Turn on" }).click();
  await eventually(() => banners(page).textContent(), "");
  expect(platform.control.webhook.enabled).toBe(true);
  await ask(page, "two");
}
