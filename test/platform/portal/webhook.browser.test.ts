import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { violationsOf } from "./support/axe.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

const isFocused = (element: Element) => element === document.activeElement;
const card = (page: Page, name: string | RegExp) => page.getByRole("region", { name });

describe("the developer portal", () => {
  test("address, types and switch are saved together, and what is saved is shown", async () => {
    const { platform, page } = await openPortal();
    await page.goto(`${platform.url}/#/webhook`);
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
    // What is saved elsewhere is shown here, for nothing is being typed.
    platform.control.saveWebhook({ types: [] });
    await settings.getByText("Event types: all types").waitFor();
  });

  test("an address that the platform refuses stays in its field, with the reason", async () => {
    const { platform, page } = await openPortal();
    const { url } = platform.control.webhook;
    await page.goto(`${platform.url}/#/webhook`);
    const address = card(page, "Settings").getByRole("textbox", { name: "Address" });
    await address.fill("http://example.com/webhook");
    await address.press("Enter");
    await page.getByRole("alert").getByText("https").waitFor();
    expect(await address.inputValue()).toBe("http://example.com/webhook");
    expect(platform.control.webhook.url).toBe(url);
  });

  test("the secret is shown once, when a new one was made and confirmed", async () => {
    const { platform, page } = await openPortal();
    await page.goto(`${platform.url}/#/webhook`);
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
    await eventually(() => page.evaluate(() => navigator.clipboard.readText()), line);
    // It is not shown again: one key too many must not lose it.
    await page.keyboard.press("Escape");
    expect(await shown.isVisible()).toBe(true);
    await shown.getByRole("button", { name: "I have it" }).click();
    await eventually(() => ask.evaluate(isFocused), true);
    const text = async () => (await page.locator("body").textContent())?.includes(line.slice(-20));
    await eventually(text, false);
  });

  test("the secret is copied by hand where a page may not copy, and stays in sight", async () => {
    const { platform } = await openPortal();
    const page = await openPage(platform, "#/webhook", { permissions: [] });
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
  });

  test("what failures have switched off says why and when, and is switched on again", async () => {
    const { platform, page } = await openPortal({
      platform: { disableAfter: 2, retryIntervalMs: 20 },
    });
    await page.goto(`${platform.url}/#/webhook`);
    const health = card(page, /^Deliveries/);
    await health.getByText("0 of 2 failures in a row").waitFor();
    platform.control.setFaults({ webhook: { mode: "status" } });
    platform.control.act({ type: "follow", from: "ada" });
    await health.getByText("that has switched it off").waitFor();
    await health.locator(".note time").waitFor();
    await health.getByText("What the owner was told (1)").click();
    platform.control.setFaults({ webhook: { mode: "none" } });
    await health.getByRole("button", { name: "Switch on again" }).click();
    await health.getByText("0 of 2 failures in a row").waitFor();
    expect(platform.control.webhook).toMatchObject({ enabled: true, consecutiveFailures: 0 });
    await eventually(() => health.getByRole("heading").evaluate(isFocused), true);
  });

  test("the kill switch is confirmed, disables the app and enables it again", async () => {
    const { platform, page } = await openPortal();
    await page.goto(`${platform.url}/#/webhook`);
    await page.getByRole("button", { name: "Disable the app of @bot" }).click();
    await page.getByRole("button", { name: "Disable", exact: true }).click();
    await card(page, /^Kill switch/)
      .getByText("app disabled")
      .waitFor();
    expect(platform.control.apps.list()[0]?.disabled).toBe(true);
    await page.getByRole("button", { name: "Enable the app of @bot" }).click();
    await page.getByRole("button", { name: "Enable", exact: true }).click();
    await card(page, /^Kill switch/)
      .getByText("app enabled")
      .waitFor();
    expect(platform.control.apps.list()[0]?.disabled).toBe(false);
  });
});

describe("a test event", () => {
  const types = ["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"];

  test("of each type arrives at the bot, and the page says so", async () => {
    const { platform, page } = await openPortal();
    await page.goto(`${platform.url}/#/webhook`);
    const tests = card(page, "Send a test event");
    for (const [index, type] of types.entries()) {
      await tests.getByRole("button", { name: `Send a test event of type ${type}` }).click();
      const newest = tests.getByRole("listitem").first();
      await newest.getByText(type, { exact: true }).waitFor();
      await newest.getByText("delivered: 200").waitFor();
      // A reply below the bot's own post is a comment on it as well.
      const made = new Set(platform.control.events().map((event) => event.type));
      expect([...made]).toEqual(types.slice(0, index + 1));
    }
  });

  test("that the webhook does not send says why", async () => {
    const { platform, page } = await openPortal();
    platform.control.saveWebhook({ types: ["follow"] });
    await page.goto(`${platform.url}/#/webhook`);
    await page.getByRole("button", { name: "Send a test event of type like" }).click();
    const log = page.getByRole("log", { name: "What became of the test events" });
    await log.getByText("not subscribed to like").waitFor();
  });
});

describe("what the bot says", () => {
  test("is its own status, read again when something happens", async () => {
    const { platform, bot, page } = await openPortal();
    await page.goto(`${platform.url}/#/webhook`);
    const says = card(page, "What the bot says");
    await says.getByText("auditing", { exact: true }).waitFor();
    await says.getByText(bot.url ?? "", { exact: true }).waitFor();
    await says.getByText("none yet").first().waitFor();
    platform.control.act({ type: "dm.message", from: "ada" });
    await eventually(() => says.locator("dt:has-text('Last delivery') + dd time").count(), 1);
  });

  test("is not what another bot said, where it cannot be read", async () => {
    const { platform, bot, page } = await openPortal();
    platform.control.apps.create({ username: "helper" });
    await page.route("**/control/v1/bot?bot=helper", (route) =>
      route.fulfill({ status: 500, json: { error: { code: "INTERNAL", message: "not today" } } }),
    );
    await page.goto(`${platform.url}/#/webhook`);
    const says = card(page, "What the bot says");
    await says.getByText(bot.url ?? "", { exact: true }).waitFor();
    await page.getByLabel("Bot", { exact: true }).selectOption("helper");
    await says.getByRole("alert").getByText("not today").waitFor();
    expect(await says.getByText(bot.url ?? "", { exact: true }).count()).toBe(0);
  });

  test("when it cannot be reached, is why, with a remedy", async () => {
    const { platform, bot, page } = await openPortal();
    await bot.stop();
    await page.goto(`${platform.url}/#/webhook`);
    const says = card(page, "What the bot says");
    await says.getByText("The bot does not tell its status").waitFor();
    await says.getByText(/running/).waitFor();
  });
});

test.each(["light", "dark"] as const)("axe finds nothing on it, %s", async (colorScheme) => {
  const { platform } = await openPortal();
  platform.control.saveWebhook({ enabled: false });
  const page = await openPage(platform, "#/webhook", { colorScheme });
  await page.getByRole("button", { name: "Send a test event of type follow" }).click();
  await page.getByText("The webhook is off: the event is in the log alone").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Regenerate the signing secret" }).click();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  await page.getByText("This is shown once.").waitFor();
  expect(await violationsOf(page)).toEqual([]);
});
