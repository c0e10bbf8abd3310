import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import type { Platform } from "../../faces/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const isFocused = (element: Element) => element === document.activeElement;
const card = (page: Page, name: string | RegExp) => page.getByRole("region", { name });

test("a developer saves the webhook, makes a new secret, and uses the kill switch", async () => {
  const { platform, page } = await openPortal({ address: "#/webhook" });
  await saveSettings(platform, page);
  await keepARefusedAddress(platform, page);
  const line = await makeSecret(page);
  await eventually(() => page.evaluate(() => navigator.clipboard.readText()), line);
  // The line is in the clipboard alone.
  const body = await page.locator("body").textContent();
  expect(body).not.toContain(line.slice(-20));
  await copyByHand(page);
  await killSwitch(platform, page);
});

async function saveSettings(platform: Platform, page: Page): Promise<void> {
  const settings = card(page, "Settings");
  await settings.getByText("Event types: all types").waitFor();
  await settings.getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:9/elsewhere");
  await settings.getByRole("checkbox", { name: "mention" }).check();
  await settings.getByRole("checkbox", { name: "follow" }).check();
  await settings.getByText("Event types: 2 of 8").waitFor();
  await settings.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved; the failure count is 0.").waitFor();
  expect(platform.control.webhook).toMatchObject({
    url: "http://127.0.0.1:9/elsewhere",
    types: ["mention", "follow"],
    enabled: true,
  });
  // Nothing is being typed, so what is saved elsewhere is shown.
  platform.control.saveWebhook({ types: [] });
  await settings.getByText("Event types: all types").waitFor();
}

async function keepARefusedAddress(platform: Platform, page: Page): Promise<void> {
  const { url } = platform.control.webhook;
  const address = card(page, "Settings").getByRole("textbox", { name: "Address" });
  await address.fill("http://example.com/webhook");
  await address.press("Enter");
  await page.getByRole("alert").getByText("https").waitFor();
  expect(await address.inputValue()).toBe("http://example.com/webhook");
  expect(platform.control.webhook.url).toBe(url);
}

/** Shown once, when it was made and confirmed. Returns the line for the bot. */
async function makeSecret(page: Page): Promise<string> {
  const ask = page.getByRole("button", { name: "Regenerate the signing secret" });
  await ask.click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await eventually(() => ask.evaluate(isFocused), true);
  await ask.click();
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "New signing secret of @bot" });
  const line = (await shown.getByLabel("Lines for the .env of the bot").textContent()) ?? "";
  expect(line).toMatch(/^SERVICE_WEBHOOK_SECRET=whsec_[0-9a-f]{48}$/);
  await shown.getByText("the newest first").waitFor();
  await shown.getByRole("button", { name: "Copy" }).click();
  // The secret is not shown again, so one key too many must not lose it.
  await page.keyboard.press("Escape");
  expect(await shown.isVisible()).toBe(true);
  await shown.getByRole("button", { name: "I have it" }).click();
  await eventually(() => ask.evaluate(isFocused), true);
  return line;
}

/** The secret stays in sight if a page may not copy. */
async function copyByHand(page: Page): Promise<void> {
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  });
  await page.getByRole("button", { name: "Regenerate the signing secret" }).click();
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "New signing secret of @bot" });
  await shown.getByRole("button", { name: "Copy" }).click();
  const lines = page.getByRole("textbox", { name: "The lines for .env" });
  expect(await lines.inputValue()).toMatch(/^SERVICE_WEBHOOK_SECRET=whsec_[0-9a-f]{48}$/);
  await page.keyboard.press("Escape");
  await lines.waitFor({ state: "detached" });
  expect(await shown.isVisible()).toBe(true);
  await shown.getByRole("button", { name: "I have it" }).click();
}

async function killSwitch(platform: Platform, page: Page): Promise<void> {
  const isDisabled = () => platform.control.apps.list()[0]?.disabled;
  const state = card(page, /^Kill switch/);
  await page.getByRole("button", { name: "Disable the app of @bot" }).click();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await state.getByText("app disabled").waitFor();
  expect(isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Enable the app of @bot" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable" }).click();
  await state.getByText("app enabled").waitFor();
  expect(isDisabled()).toBe(false);
}

test("test events show how the webhook and the bot are, and a webhook that failures switched off is mended", async () => {
  const { platform, bot, page } = await openPortal({
    platform: { disableAfter: 2, retryIntervalMs: 20 },
    address: "#/webhook",
  });
  await readTheBot(bot, page);
  await sendTestEvents(platform, page);
  await mendTheWebhook(platform, page);
  await readAnotherBot(platform, bot, page);
  await bot.stop();
  await page.reload();
  const says = card(page, "What the bot says");
  await says.getByText("The bot does not tell its status").waitFor();
  await says.getByText(/running/).waitFor();
});

/** Its own status, read again when something happens. */
async function readTheBot(bot: Bot, page: Page): Promise<void> {
  const says = card(page, "What the bot says");
  await says.getByText("auditing", { exact: true }).waitFor();
  await says.getByText(bot.url ?? "", { exact: true }).waitFor();
  await says.getByText("none yet").first().waitFor();
  await page.getByRole("button", { name: "Send a test event of type dm.message" }).click();
  await eventually(() => says.locator("dt:has-text('Last delivery') + dd time").count(), 1);
}

async function sendTestEvents(platform: Platform, page: Page): Promise<void> {
  const tests = card(page, "Send a test event");
  const newest = tests.getByRole("listitem").first();
  await newest.getByText("dm.message", { exact: true }).waitFor();
  await newest.getByText("delivered: 200").waitFor();
  platform.control.saveWebhook({ types: ["follow"] });
  await page.getByRole("button", { name: "Send a test event of type like" }).click();
  const log = page.getByRole("log", { name: "What became of the test events" });
  await log.getByText("not subscribed to like").waitFor();
}

async function mendTheWebhook(platform: Platform, page: Page): Promise<void> {
  const health = card(page, /^Deliveries/);
  await health.getByText("0 of 2 failures in a row").waitFor();
  platform.control.setFaults({ webhook: { mode: "status" } });
  await page.getByRole("button", { name: "Send a test event of type follow" }).click();
  await health.getByText("that has switched it off").waitFor();
  await health.locator(".note time").waitFor();
  await health.getByText("What the owner was told (1)").click();
  platform.control.setFaults({ webhook: { mode: "none" } });
  await health.getByRole("button", { name: "Switch on again" }).click();
  await health.getByText("0 of 2 failures in a row").waitFor();
  expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  await eventually(() => health.getByRole("heading").evaluate(isFocused), true);
}

/** A status that cannot be read is not replaced by that of another bot. */
async function readAnotherBot(platform: Platform, bot: Bot, page: Page): Promise<void> {
  platform.control.apps.create({ username: "helper" });
  await page.route("**/control/v1/bot?bot=helper", (route) =>
    route.fulfill({ status: 500, json: { error: { code: "INTERNAL", message: "not today" } } }),
  );
  const says = card(page, "What the bot says");
  await page.getByLabel("Bot", { exact: true }).selectOption("helper");
  await says.getByRole("alert").getByText("not today").waitFor();
  expect(await says.getByText(bot.url ?? "", { exact: true }).count()).toBe(0);
  await page.getByLabel("Bot", { exact: true }).selectOption("bot");
}
