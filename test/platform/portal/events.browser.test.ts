import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Platform } from "../../../src/platform/index.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { violationsOf } from "./support/axe.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

const list = (page: Page) => page.getByRole("listbox", { name: "Timeline" });
const lines = (page: Page) => list(page).getByRole("option");
const details = (page: Page) => page.getByRole("region", { name: "Details" });
const find = (page: Page) => page.getByRole("searchbox", { name: "Find" });
const choice = (page: Page, name: string) => page.getByRole("combobox", { name });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

/** Writes to the bot, and waits for its answer. */
async function greet(platform: Platform, text: string): Promise<string> {
  const { events } = platform.control.act({ type: "dm.message", from: "ada", text });
  const id = events[0]?.id ?? "";
  await platform.waitFor("api", ({ eventId, method }) => eventId === id && method === "POST");
  return id;
}

/** A platform without a bot, on which somebody has liked something so many times. */
async function likes(platform: Platform, count: number): Promise<void> {
  platform.control.saveWebhook({ enabled: false });
  for (let left = count; left > 0; left -= 1000) {
    platform.control.act({ type: "like", from: "ada", count: Math.min(left, 1000) });
  }
}

/** Everything that the list holds, whether it is in sight or not. */
const size = (page: Page) => lines(page).first().getAttribute("aria-setsize");

describe("the timeline", () => {
  test("says what to do first where nothing has happened", async () => {
    const platform = await runPlatform();
    const page = await openPage(platform, "#/events");
    await page.getByText("Nothing has happened yet.").waitFor();
    await page.keyboard.press("d");
    await lines(page)
      .filter({ hasText: "--> dm.message" })
      .filter({ hasText: "waiting" })
      .waitFor();
  });

  test("tells what happens in the words of service-bot dev", async () => {
    const { platform, page } = await openPortal();
    await page.goto(`${platform.url}/#/events`);
    await find(page).fill("dm.message");
    await page.getByText("No entries fit.").waitFor();
    await find(page).blur();
    await page.keyboard.press("d");
    const line = lines(page).filter({ hasText: "--> dm.message" });
    await line.filter({ hasText: '@ada "hello"' }).filter({ hasText: "handled" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await lines(page)
      .filter({ hasText: /<-- \[200\] \d+ ms {2}attempt 1/ })
      .waitFor();
    await lines(page)
      .filter({ hasText: /api POST .* \[201\] \d+ ms "Hello Ada!"/ })
      .waitFor();
  });

  test("folds reads away until they are asked for, and remembers what was looked for", async () => {
    const { platform, page } = await openPortal();
    const id = await greet(platform, "hello");
    platform.control.act({ type: "poll.created", from: "ben" });
    await page.goto(`${platform.url}/#/events`);
    await lines(page).filter({ hasText: "poll.created" }).waitFor();
    await choice(page, "Person").selectOption("ben");
    await eventually(() => lines(page).filter({ hasText: id }).count(), 0);
    await choice(page, "Type").selectOption("poll.created");
    await choice(page, "Outcome").selectOption("delivered");
    await choice(page, "Kind").selectOption("event");
    await eventually(() => size(page), "1");
    await page.reload();
    await eventually(() => size(page), "1");
    expect(await choice(page, "Type").inputValue()).toBe("poll.created");
    await choice(page, "Outcome").selectOption("failed");
    const empty = page.locator(".empty", { hasText: "No entries fit." });
    await empty.getByRole("button", { name: "Clear the filters" }).click();
    await lines(page).filter({ hasText: id }).waitFor();
    expect(await lines(page).filter({ hasText: "api GET" }).count()).toBe(0);
    await fetch(`${platform.url}/api/v1/me`, {
      headers: { authorization: `Bearer ${platform.apiKey}` },
    });
    await page.getByRole("checkbox", { name: "Show reads" }).check();
    await lines(page).filter({ hasText: "api GET /me [200]" }).last().waitFor();
  });

  test("goes by the keyboard alone: lines, details and back", async () => {
    const { platform, page } = await openPortal();
    const id = await greet(platform, "hello");
    await page.goto(`${platform.url}/#/events`);
    await choice(page, "Kind").selectOption("event");
    await eventually(() => size(page), "1");
    await list(page).focus();
    await page.keyboard.press("Home");
    await eventually(() => list(page).locator("[aria-selected=true]").count(), 1);
    await page.keyboard.press("Enter");
    await details(page)
      .getByRole("heading", { name: `Event ${id}` })
      .waitFor();
    await eventually(() => focused(page), `Event ${id}`);
    await page.keyboard.press("Escape");
    await eventually(() => page.evaluate(() => location.hash), "#/events");
    await eventually(() => list(page).evaluate((each) => each === document.activeElement), true);
  });
});

describe("thousands of entries", () => {
  const COUNT = 5_000;

  test("are a few rows of the page, and say which of how many they are", async () => {
    const { platform, page } = await openPortal();
    await likes(platform, COUNT);
    await page.goto(`${platform.url}/#/events`);
    await choice(page, "Kind").selectOption("event");
    await eventually(() => size(page), String(COUNT));
    await list(page).focus();
    await page.keyboard.press("End");
    const place = () => list(page).locator("[aria-selected=true]").getAttribute("aria-posinset");
    await eventually(place, String(COUNT));
    await page.keyboard.press("PageUp");
    await page.keyboard.press("k");
    expect(Number(await place())).toBeLessThan(COUNT - 10);
    await page.keyboard.press("Home");
    await eventually(place, "1");
    await page.keyboard.press("j");
    await eventually(place, "2");
    expect(await lines(page).count()).toBeLessThan(80);
    await list(page).evaluate((each) => each.scrollTo(0, 60_000));
    await lines(page).filter({ hasText: "evt_000000002010" }).waitFor();
    expect(await place(), "the active one, out of sight").toBe("2");
  });

  test("are scrolled and filtered in less than 100 ms", async () => {
    const { platform, page } = await openPortal();
    await likes(platform, COUNT);
    await page.goto(`${platform.url}/#/events`);
    await choice(page, "Kind").selectOption("event");
    await eventually(() => size(page), String(COUNT));
    const { typing, scrolling } = await page.evaluate(stopwatch);
    // The median: what else this machine does must not be taken for the page.
    expect(median(typing)).toBeLessThan(100);
    expect(median(scrolling)).toBeLessThan(100);
  });

  test("are followed until one scrolls away; a button comes back", async () => {
    const { platform, page } = await openPortal();
    await likes(platform, 200);
    await page.goto(`${platform.url}/#/events`);
    await choice(page, "Kind").selectOption("event");
    await eventually(() => size(page), "200");
    const top = () => list(page).evaluate((each) => each.scrollTop);
    const fromEnd = () =>
      list(page).evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop);
    await eventually(fromEnd, 0);
    platform.control.act({ type: "like", from: "ben", count: 50 });
    await eventually(() => size(page), "250");
    await eventually(fromEnd, 0);
    await list(page).hover();
    await page.mouse.wheel(0, -900);
    const follow = page.getByRole("button", { name: "Follow the newest" });
    await follow.waitFor();
    const before = await top();
    platform.control.act({ type: "like", from: "ben", count: 50 });
    await eventually(() => size(page), "300");
    expect(await top()).toBe(before);
    const line = await list(page).evaluate(firstInSight);
    await choice(page, "Kind").selectOption("");
    // There are more of them above now, so that the list is scrolled further.
    await eventually(async () => (await top()) > before, true);
    expect(await list(page).evaluate(firstInSight)).toBe(line);
    await follow.click();
    await eventually(fromEnd, 0);
    await eventually(() => follow.count(), 0);
  });
});

describe("an event", () => {
  test("has its payload, each try with both sides of it, and the calls because of it", async () => {
    const { platform, page } = await openPortal();
    platform.control.setFaults({ webhook: { mode: "status", times: 1 } });
    const id = await greet(platform, "hello <b>you</b>");
    await page.goto(`${platform.url}/#/events/${id}`);
    await details(page).getByText('"excerpt": "hello <b>you</b>"').waitFor();
    await details(page).getByText("Deliveries (2)").waitFor();
    await details(page).getByText("The fault “status” did this").waitFor();
    const [first, second] = await details(page).locator(".items summary").all();
    await first?.click();
    await details(page).getByText("Nothing was sent.").waitFor();
    await second?.click();
    await details(page).getByText("Headers", { exact: false }).first().click();
    await details(page).getByRole("row", { name: "x-service-signature" }).waitFor();
    await details(page).getByText("/dm/conversations/").click();
    await details(page).getByText('"text": "Hello Ada!"').waitFor();
    expect(await violationsOf(page)).toEqual([]);
  });

  test("is live while it is open", async () => {
    const { platform, page } = await openPortal();
    platform.control.setFaults({ webhook: { mode: "drop" } });
    const { events } = platform.control.act({ type: "follow", from: "ada" });
    await page.goto(`${platform.url}/#/events/${events[0]?.id}`);
    await details(page).getByText("attempt 2").waitFor();
    expect(await details(page).getByText("delivered", { exact: true }).count()).toBe(0);
    platform.control.setFaults({ webhook: { mode: "none" } });
    await details(page).getByText("delivered", { exact: true }).first().waitFor();
    await details(page).getByText("None on record.").waitFor();
  });

  test("is sent again, and says with a remedy why that failed", async () => {
    const { platform, bot, page } = await openPortal();
    const id = await greet(platform, "hello");
    await page.goto(`${platform.url}/#/events/${id}`);
    await details(page).getByText("Deliveries (1)").waitFor();
    await page.keyboard.press("s");
    await page.getByText(/Sent again: \[200\]/).waitFor();
    await details(page).getByText("Deliveries (2)").waitFor();
    await bot.stop();
    await details(page).getByRole("button", { name: "Send again" }).click();
    await page.getByRole("alert").getByText("nothing listens on").waitFor();
    await details(page).getByText("Start the bot: npm run dev.").waitFor();
  });

  test("is edited and sent, signed as any other, and broken when it is meant to be", async () => {
    const heard: string[] = [];
    const { platform, page } = await openPortal({
      register: (bot) => bot.on("dm.message", ({ payload }) => void heard.push(payload.excerpt)),
    });
    const { events } = platform.control.act({ type: "dm.message", from: "ada", text: "hello" });
    await page.goto(`${platform.url}/#/events/${events[0]?.id}`);
    await details(page).getByText("Deliveries (1)").waitFor();
    await page.keyboard.press("e");
    const dialog = page.getByRole("dialog", { name: "Edit and send" });
    const body = dialog.getByRole("textbox", { name: "Body" });
    const text = await body.inputValue();
    await body.fill(text.replace("hello", "edited").replace(/"evt_\w+"/, '"evt_999999999999"'));
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    await dialog.getByText("[200]").waitFor();
    await eventually(async () => heard, ["hello", "edited"]);
    await body.fill("{broken");
    await dialog.getByText("This is no JSON").waitFor();
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    await dialog.getByText("on purpose?").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Send it broken" }).click();
    await dialog.getByText("[400]").waitFor();
    await dialog.getByRole("link", { name: /^dlv_/ }).click();
    await details(page)
      .getByRole("heading", { name: /^Delivery dlv_/ })
      .waitFor();
    await details(page).getByText("{broken").waitFor();
  });

  test("is copied as curl and as a test", async () => {
    const { platform, page } = await openPortal();
    const id = await greet(platform, "hello");
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.goto(`${platform.url}/#/events/${id}`);
    await details(page).getByText("Deliveries (1)").waitFor();
    await page.keyboard.press("c");
    await page.getByText("A curl line").waitFor();
    expect(await copied()).toMatch(/^curl .*x-service-signature/is);
    await page.keyboard.press("t");
    const dialog = page.getByRole("dialog", { name: "A test fixture" });
    await dialog.getByRole("button", { name: "Copy" }).click();
    await page.getByText("The test is copied.").waitFor();
    expect(await copied()).toContain('text: "Hello Ada!"');
    expect(await violationsOf(page)).toEqual([]);
    const saved = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Save as a file" }).click();
    expect((await saved).suggestedFilename()).toBe(`dm-message-${id}.test.ts`);
  });

  test("is shown to be copied where a page may not copy", async () => {
    const { platform } = await openPortal();
    const id = await greet(platform, "hello");
    const page = await openPage(platform, `#/events/${id}`, { permissions: [] });
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
    });
    await details(page).getByText("Deliveries (1)").waitFor();
    await page.keyboard.press("c");
    const line = page.getByRole("textbox", { name: "curl, signed for 5 minutes" });
    expect(await line.inputValue()).toMatch(/^curl /);
  });
});

/** How long the page takes from an input to the end of the next frame, in milliseconds. Runs in the page. */
async function stopwatch(): Promise<{ typing: number[]; scrolling: number[] }> {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  const rows = document.querySelector("[role=listbox]");
  if (field === null || rows === null) throw new Error("no timeline");
  const measure = async (act: (turn: number) => void) => {
    const taken: number[] = [];
    for (let turn = 0; turn < 11; turn += 1) {
      const began = performance.now();
      act(turn);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      taken.push(performance.now() - began);
    }
    return taken;
  };
  const scrolling = await measure((turn) => {
    rows.scrollTop = (turn * 7_919 * 13) % rows.scrollHeight;
  });
  const typing = await measure((turn) => {
    field.value = turn % 2 === 0 ? "evt_" : "";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
  return { typing, scrolling };
}

/** The text of the line at the top of the list. Runs in the page. */
function firstInSight(rows: Element): string | null | undefined {
  const { top } = rows.getBoundingClientRect();
  const options = [...rows.querySelectorAll("[role=option]")];
  return options.find((each) => each.getBoundingClientRect().bottom > top + 1)?.textContent;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
