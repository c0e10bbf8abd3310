import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { request } from "../support/platform.ts";
import { violationsOf } from "./support/axe.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

async function openFaults() {
  const opened = await openPortal();
  await opened.page.goto(`${opened.platform.url}/#/faults`);
  await card(opened.page, "Deliveries").waitFor();
  return opened;
}

const card = (page: Page, name: string) => page.getByRole("region", { name });

describe("faults", () => {
  test("a form starts one, the page shows what is left of it, and Stop ends it", async () => {
    const { platform, page } = await openFaults();
    const deliveries = card(page, "Deliveries");
    await deliveries.getByLabel("A delivery").selectOption("fails with a status");
    await deliveries.getByLabel("Status").fill("418");
    await deliveries.getByLabel("How many").fill("3");
    await deliveries.getByRole("button", { name: "Start" }).click();
    await deliveries.getByText("fails with 418, 3 left").waitFor();
    platform.control.act({ type: "follow", from: "ada" });
    await deliveries.getByText("fails with 418, 2 left").waitFor();
    await deliveries.getByRole("button", { name: "Stop the fault of Deliveries" }).click();
    await deliveries.getByText("as usual", { exact: true }).waitFor();
    expect(platform.control.faults.webhook.mode).toBe("none");
  });

  test("events are late, and requests are touched at a rate, writes only", async () => {
    const { platform, page } = await openFaults();
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
  });

  test("keys set what is often tried, and o stops all of it", async () => {
    const { platform, page } = await openFaults();
    const mode = async (part: "webhook" | "api") => platform.control.faults[part].mode;
    const press = async (key: string, part: "webhook" | "api", expected: string) => {
      await page.keyboard.press(key);
      await eventually(() => mode(part), expected);
    };
    await press("t", "webhook", "timeout");
    await press("b", "webhook", "twice");
    await press("u", "webhook", "shuffle");
    await press("f", "webhook", "status");
    await press("g", "api", "status");
    await press("y", "api", "mix");
    await page.getByText("2 of 3 kinds go wrong now.").waitFor();
    await press("o", "api", "none");
    await page.getByText("Nothing goes wrong now.").waitFor();
    expect(await mode("webhook")).toBe("none");
    await page.getByText("30 % of the requests go wrong.").waitFor();
  });
});

describe("limits and storage", () => {
  test("a limit is set, shown with what is used, and taken away", async () => {
    const { platform, page } = await openFaults();
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
  });

  test("what was used is 0 again when its time is over, without anything that happens", async () => {
    const { platform, page } = await openFaults();
    platform.control.clock.set({ now: "2030-01-01T00:00:57.000Z" });
    await request(platform, "GET", "/api/v1/me");
    const limits = card(page, "Limits").getByRole("listitem").first();
    await limits.getByText(/^[1-9]\d* used, no limit/).waitFor();
    await limits.getByText(/^0 used, no limit/).waitFor();
  });

  test("storage is switched off and on", async () => {
    const { platform, page } = await openFaults();
    const storage = page.getByRole("region", { name: /^Storage/ });
    await storage.getByRole("button", { name: "Switch off" }).click();
    await storage.getByText("off", { exact: true }).waitFor();
    expect(platform.control.storage.configured).toBe(false);
    await storage.getByRole("button", { name: "Switch on" }).click();
    await storage.getByText("on", { exact: true }).waitFor();
  });
});

describe("the clock", () => {
  test("goes on by itself, without a question to the platform", async () => {
    const { page } = await openFaults();
    const shown = card(page, "Clock").locator(".clock-now time");
    const before = await shown.textContent();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("/clock")) asked += 1;
    });
    await expect.poll(() => shown.textContent()).not.toBe(before);
    expect(asked).toBe(0);
  });

  test("is moved on, warns of refused signatures, is frozen, set, and put back", async () => {
    const { platform, page } = await openFaults();
    const clock = card(page, "Clock");
    await clock.getByText("as the machine's").waitFor();
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
  });
});

test.each(["light", "dark"] as const)("axe finds nothing on it, %s", async (colorScheme) => {
  const { platform } = await openPortal();
  platform.control.setFaults({ webhook: { mode: "twice" }, api: { mode: "mix", rate: 0.3 } });
  platform.control.setLimits({ requestsPerMinute: 1_000 });
  platform.control.clock.set({ advanceMs: 600_000, frozen: true });
  const page = await openPage(platform, "#/faults", { colorScheme });
  await page.getByText("sent twice, until it is stopped").waitFor();
  await page.getByRole("meter", { name: "Requests per minute" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
});
