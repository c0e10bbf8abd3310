import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { request } from "../support/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const card = (page: Page, name: string | RegExp) => page.getByRole("region", { name });

test("faults are started by forms and keys, and what is left of them is shown", async () => {
  const { platform, page } = await openPortal({ address: "#/faults" });
  const deliveries = card(page, "Deliveries");
  await deliveries.getByLabel("A delivery").selectOption("fails with a status");
  await deliveries.getByLabel("Status").fill("418");
  await deliveries.getByLabel("How many").fill("30");
  await deliveries.getByRole("button", { name: "Start" }).click();
  await deliveries.getByText("fails with 418, 30 left").waitFor();
  platform.control.act({ type: "follow", from: "ada" });
  await deliveries.getByText(/fails with 418, [12]\d left/).waitFor();
  await deliveries.getByRole("button", { name: "Stop the fault of Deliveries" }).click();
  await deliveries.getByText("as usual", { exact: true }).waitFor();
  expect(platform.control.faults.webhook.mode).toBe("none");
  await delayEventsAndLoseAnswers(platform, page);
  await setPresetsByKey(platform, page);
});

async function delayEventsAndLoseAnswers(platform: Platform, page: Page): Promise<void> {
  const events = card(page, "Events");
  await events.getByLabel("Late by, s").fill("0.5");
  await events.getByRole("button", { name: "Start" }).click();
  await events.getByText("late by 500 ms, 1 left").waitFor();
  const api = card(page, "API requests");
  await api.getByLabel("A request is").selectOption("executed, then reset");
  await api.getByLabel("Share, %").fill("25");
  await api.getByLabel("How many").fill("");
  await api.getByLabel("Which").selectOption("writes only");
  await api.getByRole("button", { name: "Start" }).click();
  await api.getByText("executed, then reset, writes only, 25 % of them").waitFor();
  expect(platform.control.faults).toMatchObject({
    events: { mode: "late", lateMs: 500, times: 1 },
    api: { mode: "lose-answer", match: "write", rate: 0.25 },
  });
}

async function setPresetsByKey(platform: Platform, page: Page): Promise<void> {
  const mode = async (part: "webhook" | "api") => platform.control.faults[part].mode;
  const press = async (key: string, part: "webhook" | "api", expected: string) => {
    await page.keyboard.press(key);
    await eventually(() => mode(part), expected);
  };
  await page.keyboard.press("Escape");
  await press("o", "api", "none");
  await page.getByText("Nothing goes wrong now.").waitFor();
  await press("t", "webhook", "timeout");
  await press("b", "webhook", "twice");
  await press("u", "webhook", "shuffle");
  await press("f", "webhook", "status");
  await press("g", "api", "status");
  await press("y", "api", "mix");
  await page.getByText("2 of 3 kinds go wrong now.").waitFor();
  await page.getByText("30 % of the requests go wrong.").waitFor();
  await press("o", "api", "none");
  await page.getByText("Nothing goes wrong now.").waitFor();
  expect(await mode("webhook")).toBe("none");
}

test("limits, storage and the clock are set, and what is used and what time it is goes on by itself", async () => {
  const { platform, page } = await openPortal({ address: "#/faults" });
  await setLimit(platform, page);
  await switchStorage(platform, page);
  await moveClock(platform, page);
  await seeUseEnd(platform, page);
});

async function setLimit(platform: Platform, page: Page): Promise<void> {
  const limits = card(page, "Limits");
  const form = limits.getByRole("form", { name: "Limit of direct messages per day" });
  await form.getByLabel("New limit").fill("2");
  await form.getByLabel("New limit").press("Enter");
  await limits.getByText("0 of 2 used").waitFor();
  platform.control.act({ type: "dm.message", from: "ada" });
  await limits.getByText("1 of 2 used").waitFor();
  await limits.getByRole("meter", { name: "Direct messages per day" }).waitFor();
  await form.getByRole("button", { name: "Take away" }).click();
  await limits.getByText("1 used, no limit").waitFor();
  expect(platform.control.limits.dmsPerDay.limit).toBeNull();
}

async function switchStorage(platform: Platform, page: Page): Promise<void> {
  const storage = card(page, /^Storage/);
  await storage.getByRole("button", { name: "Switch off" }).click();
  await storage.getByText("off", { exact: true }).waitFor();
  expect(platform.control.storage.configured).toBe(false);
  await storage.getByRole("button", { name: "Switch on" }).click();
  await storage.getByText("on", { exact: true }).waitFor();
}

async function moveClock(platform: Platform, page: Page): Promise<void> {
  const clock = card(page, "Clock");
  await clock.getByText("as the machine's").waitFor();
  const time = clock.locator(".clock-now time");
  const before = await time.textContent();
  // The clock goes on by itself, because the platform does not answer meanwhile.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/control/v1/clock", async (route) => {
    await released;
    await route.continue();
  });
  await expect.poll(() => time.textContent(), { timeout: 10_000 }).not.toBe(before);
  release();

  await clock.getByRole("button", { name: "Move the clock on by 30 s" }).click();
  await clock.getByText("30 s ahead").waitFor();
  expect(await clock.getByText("refuses deliveries").count()).toBe(0);
  await clock.getByRole("button", { name: "Move the clock on by 5 min" }).click();
  await clock.getByText("refuses deliveries").waitFor();
  await clock.getByRole("button", { name: "Freeze" }).click();
  await clock.getByText("stands still").waitFor();
  expect(platform.control.clock.view.frozen).toBe(true);
  await clock.getByLabel("Set to (UTC)").fill("2030-01-31T23:59:00");
  await clock.getByRole("button", { name: "Set", exact: true }).click();
  await clock.getByText("2030-01-31 23:59:00 UTC").waitFor();
  expect(platform.control.clock.view.now).toBe("2030-01-31T23:59:00.000Z");
  await clock.getByRole("button", { name: "Back to now" }).click();
  await clock.getByText("as the machine's").waitFor();
  const { frozen, offsetMs } = platform.control.clock.view;
  expect(frozen).toBe(false);
  expect(Math.abs(offsetMs)).toBeLessThan(1_000);
}

/** The use of a limit is 0 again when its minute is over, even if nothing happens. */
async function seeUseEnd(platform: Platform, page: Page): Promise<void> {
  platform.control.clock.set({ now: "2030-01-01T00:00:30.000Z", frozen: true });
  await request(platform, "GET", "/api/v1/me");
  const perMinute = card(page, "Limits").getByRole("listitem").first();
  await perMinute.getByText(/^[1-9]\d* used, no limit/).waitFor();
  platform.control.clock.set({ now: "2030-01-01T00:00:59.000Z", frozen: false });
  await perMinute.getByText(/^0 used, no limit/).waitFor();
}
