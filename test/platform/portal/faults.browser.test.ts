import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const banners = (page: Page) => page.getByRole("status", { name: "Active problems" });

test("one click starts a scenario, a banner on every view names it, and one click stops it", async () => {
  const { platform, page } = await openPortal({ address: "#/faults" });
  await page.getByRole("button", { name: "Start The webhook breaks" }).click();
  await banners(page).getByText("The webhook breaks: status 500, until stopped").waitFor();
  for (const key of ["1", "2", "3", "4", "6", "5"]) {
    await page.keyboard.press(key);
    await banners(page).getByText("The webhook breaks: status 500").waitFor();
  }
  await page.getByRole("button", { name: "Stop The webhook breaks" }).waitFor();
  await banners(page).getByRole("button", { name: "Stop" }).click();
  await eventually(() => banners(page).textContent(), "");
  expect(platform.control.faults.webhook.mode).toBe("none");
  await setByKeys(platform, page);
  await setInDetail(platform, page);
  await actAsOwner(platform, page);
});

async function setByKeys(platform: Platform, page: Page): Promise<void> {
  const press = async (key: string, part: "webhook" | "api", expected: string) => {
    await page.keyboard.press(key);
    await eventually(async () => platform.control.faults[part].mode, expected);
  };
  await press("t", "webhook", "timeout");
  await press("b", "webhook", "twice");
  await press("u", "webhook", "shuffle");
  await press("f", "webhook", "status");
  await press("g", "api", "status");
  await press("h", "api", "hold");
  await press("y", "api", "mix");
  await banners(page).getByText("API requests fail at random: 30 % of them").waitFor();
  await press("o", "api", "none");
  expect(platform.control.faults.webhook.mode).toBe("none");
}

async function setInDetail(platform: Platform, page: Page): Promise<void> {
  const lost = page.getByRole("form", { name: "The response to the next write is lost" });
  await lost.getByText("The response to the next write is lost").first().click();
  await lost.getByText("The bot does not know whether the write succeeded.").waitFor();
  await lost.getByLabel("Share, %").fill("25");
  await lost.getByLabel("How many").fill("0");
  await lost.getByRole("button", { name: "Start" }).click();
  expect(await lost.getByLabel("How many").evaluate((input) => input.matches(":invalid"))).toBe(
    true,
  );
  expect(platform.control.faults.api.mode).toBe("none");
  await lost.getByLabel("How many").fill("");
  await lost.getByRole("button", { name: "Start" }).click();
  await banners(page).getByText("is lost: writes only, 25 % of them").waitFor();
  const late = page.getByRole("form", { name: "Events enter the log late" });
  await late.getByText("Events enter the log late").first().click();
  await late.getByLabel("Delay, ms").fill("500");
  await late.getByLabel("How many").fill("1");
  await late.getByRole("button", { name: "Start" }).click();
  await banners(page).getByText("Events enter the log late: 500 ms, 1 left").waitFor();
  expect(platform.control.faults).toMatchObject({
    events: { mode: "late", lateMs: 500, times: 1 },
    api: { mode: "lose-answer", match: "write", rate: 0.25 },
  });
  await page.getByRole("button", { name: /^Stop all/ }).click();
  await eventually(() => banners(page).textContent(), "");
}

/** The banner can also end faults that the owner has caused. */
async function actAsOwner(platform: Platform, page: Page): Promise<void> {
  const end = async (text: RegExp, name: string) => {
    const banner = banners(page).locator(".banner").filter({ hasText: text });
    await banner.getByRole("button", { name }).click();
    await banner.waitFor({ state: "detached" });
  };
  await page.getByRole("button", { name: "Start The webhook is disabled" }).click();
  await end(/Webhook off/, "Turn on");
  expect(platform.control.webhook.enabled).toBe(true);
  await page.getByRole("button", { name: "Start The app is disabled" }).click();
  await end(/each request gets 403/, "Turn on");
  await page.getByRole("button", { name: "Start Image storage is off" }).click();
  await end(/uploads get 503/, "Turn on");
  platform.control.clock.set({ advanceMs: 600_000, frozen: true });
  await end(/clock is stopped/, "Reset the clock");
  expect(platform.control.clock.view.frozen).toBe(false);
  await page.getByRole("button", { name: "Start The token is revoked" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await banners(page).getByText("@bot has no API token").waitFor();
  await banners(page).getByRole("button", { name: "Create a token" }).click();
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await eventually(() => banners(page).textContent(), "");
}
