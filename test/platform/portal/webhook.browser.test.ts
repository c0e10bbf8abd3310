import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import type { Platform } from "../../faces/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const isFocused = (element: Element) => element === document.activeElement;
const card = (page: Page, name: string | RegExp) => page.getByRole("region", { name });

test("a developer saves the webhook, and generates a new secret", async () => {
  const { platform, page } = await openPortal({ address: "#/webhook" });
  await saveSettings(platform, page);
  await keepARefusedAddress(platform, page);
  const line = await makeSecret(page);
  await eventually(() => page.evaluate(() => navigator.clipboard.readText()), line);
  // The line is on the clipboard, but not on the page.
  const body = await page.locator("body").textContent();
  expect(body).not.toContain(line.slice(-20));
  await copyByHand(page);
});

async function saveSettings(platform: Platform, page: Page): Promise<void> {
  const settings = card(page, "Endpoint");
  await settings.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/elsewhere");
  const mention = settings.getByRole("checkbox", { name: "mention" });
  await mention.check();
  await settings.getByRole("button", { name: "Discard changes" }).click();
  expect(await mention.isChecked()).toBe(false);
  await settings.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/elsewhere");
  await mention.check();
  await settings.getByRole("checkbox", { name: "follow" }).check();
  await settings.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. The failure count is 0.").waitFor();
  expect(platform.control.webhook).toMatchObject({
    url: "http://127.0.0.1:9/elsewhere",
    types: ["mention", "follow"],
    enabled: true,
  });
  // Nothing is being edited, so the page shows changes saved elsewhere.
  platform.control.saveWebhook({ types: [] });
  await eventually(() => mention.isChecked(), false);
}

async function keepARefusedAddress(platform: Platform, page: Page): Promise<void> {
  const { url } = platform.control.webhook;
  const address = card(page, "Endpoint").getByRole("textbox", { name: "URL" });
  await address.fill("http://example.com/webhook");
  await address.press("Enter");
  await page.getByRole("alert").getByText("https").waitFor();
  expect(await address.inputValue()).toBe("http://example.com/webhook");
  expect(platform.control.webhook.url).toBe(url);
}

/** Returns the configuration line that the page shows. */
async function makeSecret(page: Page): Promise<string> {
  const ask = page.getByRole("button", { name: "Regenerate the signing secret" });
  await ask.click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await eventually(() => ask.evaluate(isFocused), true);
  await ask.click();
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "New signing secret for @bot" });
  const line = (await shown.getByLabel("Lines for the bot's .env").textContent()) ?? "";
  expect(line).toMatch(/^SERVICE_WEBHOOK_SECRET=whsec_[0-9a-f]{48}$/);
  await shown.getByText("set both secrets").waitFor();
  await shown.getByRole("button", { name: "Copy" }).click();
  // The secret is not shown again, so a stray key must not dismiss it.
  await page.keyboard.press("Escape");
  expect(await shown.isVisible()).toBe(true);
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  await eventually(() => ask.evaluate(isFocused), true);
  return line;
}

/** The secret stays visible if the page may not write to the clipboard. */
async function copyByHand(page: Page): Promise<void> {
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  });
  await page.getByRole("button", { name: "Regenerate the signing secret" }).click();
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "New signing secret for @bot" });
  await shown.getByRole("button", { name: "Copy" }).click();
  const lines = page.getByRole("textbox", { name: ".env lines" });
  expect(await lines.inputValue()).toMatch(/^SERVICE_WEBHOOK_SECRET=whsec_[0-9a-f]{48}$/);
  await page.keyboard.press("Escape");
  await lines.waitFor({ state: "detached" });
  expect(await shown.isVisible()).toBe(true);
  await shown.getByRole("button", { name: "Done", exact: true }).click();
}

test("a test event goes to the bot, its status is shown, and a webhook disabled by failures is enabled again", async () => {
  const { platform, bot, page } = await openPortal({
    platform: { disableAfter: 2, retryIntervalMs: 20 },
    address: "#/webhook",
  });
  const says = card(page, "Bot status");
  await says.getByText(/^auditing:/).waitFor();
  await says.getByText(bot.url ?? "", { exact: true }).waitFor();
  await page.getByRole("form", { name: "Test event" }).getByLabel("Type").selectOption("follow");
  await page.getByRole("button", { name: "Send test event" }).click();
  await platform.waitFor("delivery", ({ status }) => status === 200);
  await mendTheWebhook(platform, page);
  await readAnotherBot(platform, bot, page);
  await bot.stop();
  await page.reload();
  await says.getByText(/running/).waitFor();
});

async function mendTheWebhook(platform: Platform, page: Page): Promise<void> {
  const health = card(page, /^Deliveries/);
  await health.getByText("0 of 2 failures in a row").waitFor();
  platform.control.setFaults({ webhook: { mode: "status" } });
  await page.getByRole("button", { name: "Send test event" }).click();
  await health.getByText("off", { exact: true }).waitFor();
  await health.getByText("Notifications to the owner (1)").click();
  platform.control.setFaults({ webhook: { mode: "none" } });
  await page.getByRole("button", { name: "Turn on" }).click();
  await health.getByText("0 of 2 failures in a row").waitFor();
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
}

/** If a bot's status cannot be read, the page does not show another bot's status instead. */
async function readAnotherBot(platform: Platform, bot: Bot, page: Page): Promise<void> {
  platform.control.apps.create({ username: "helper" });
  await page.route("**/control/v1/bot?bot=helper", (route) =>
    route.fulfill({ status: 500, json: { error: { code: "INTERNAL", message: "not today" } } }),
  );
  const says = card(page, "Bot status");
  await page.getByLabel("Bot", { exact: true }).selectOption("helper");
  await says.getByRole("alert").getByText("not today").waitFor();
  expect(await says.getByText(bot.url ?? "", { exact: true }).count()).toBe(0);
  await page.getByLabel("Bot", { exact: true }).selectOption("bot");
}
