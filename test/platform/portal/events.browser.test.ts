import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { eventually, openPage, openPortal } from "./support/page.ts";

const list = (page: Page) => page.getByRole("list", { name: "Events" });
const rows = (page: Page) => list(page).locator("button.event-row");
const row = (page: Page, hasText: string | RegExp) => rows(page).filter({ hasText });
const search = (page: Page) => page.getByRole("searchbox", { name: "Search events" });
const badge = (page: Page) => page.getByRole("link", { name: /Events/ }).locator(".badge");

async function greet(platform: Platform, text: string): Promise<string> {
  const { events } = platform.control.act({ type: "dm.message", from: "ada", text });
  const id = events[0]?.id ?? "";
  await platform.waitFor("api", ({ eventId, method }) => eventId === id && method === "POST");
  return id;
}

test("a row is an event with its outcome, and is found, filtered and opened with the keyboard alone", async () => {
  const { platform, page } = await openPortal({
    address: "#/events",
    bot: { pollIntervalMs: 100, auditIntervalMs: 100 },
  });
  await page.getByText("No events yet").waitFor();
  await page.keyboard.press("d");
  await row(page, "@ada “hello”").getByText("Answered “Hello Ada!”").waitFor();
  await page.getByText(/^Polling: \d+ requests? found nothing new/).waitFor();
  expect(await rows(page).count()).toBe(1);
  await narrow(platform, page);
  await goByKeyboard(page);
});

/** The page remembers the search and the filters. */
async function narrow(platform: Platform, page: Page): Promise<void> {
  platform.control.act({ type: "poll.created", from: "ben" });
  await eventually(() => rows(page).count(), 2);
  await search(page).fill("@BEN");
  await eventually(() => rows(page).count(), 1);
  await page.reload();
  await eventually(() => rows(page).count(), 1);
  expect(await search(page).inputValue()).toBe("@BEN");
  await search(page).fill("nobody");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Type").selectOption("dm.message");
  await eventually(
    () =>
      rows(page)
        .allInnerTexts()
        .then((all) => all.length),
    1,
  );
  await page.getByLabel("Only failed").check();
  await page.getByText("No matching events").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await eventually(() => rows(page).count(), 2);
}

async function goByKeyboard(page: Page): Promise<void> {
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.keyboard.press("/");
  await page.keyboard.type("@");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await eventually(async () => (await focused()).includes("@ben"), true);
  await page.keyboard.press("j");
  await eventually(async () => (await focused()).includes("@ada"), true);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /Delivery attempt 1 200/ }).waitFor();
  await page.keyboard.press("Escape");
  await eventually(() => page.evaluate(() => location.hash), "#/events");
  expect(await focused()).toContain("@ada");
}

test("10,000 events load in pages, newest first, and new ones appear without a stutter", async () => {
  const platform = await runPlatform();
  platform.control.saveWebhook({ enabled: false });
  for (let round = 0; round < 10; round += 1) {
    platform.control.act({ type: "like", from: "ada", count: 1_000 });
  }
  const page = await openPage(platform, "#/events");
  await eventually(() => rows(page).count(), 100);
  await page.getByRole("button", { name: /^Show older \(\d+\)$/ }).click();
  await eventually(() => rows(page).count(), 200);
  const longest = await page.evaluate(longestTaskMs);
  platform.control.act({ type: "like", from: "ben" });
  await row(page, "@ben liked it").waitFor();
  const ms = await page.evaluate<number>("window.__longest()");
  console.log(`longest task with 10,000 events: ${Math.round(ms)} ms`);
  expect(longest).toBe(true);
  expect(ms).toBeLessThan(500);
});

/** Starts measuring the long tasks that block the page. Runs in the page. */
function longestTaskMs(): boolean {
  let longest = 0;
  const observer = new PerformanceObserver((seen) => {
    for (const { duration } of seen.getEntries()) longest = Math.max(longest, duration);
  });
  observer.observe({ entryTypes: ["longtask"] });
  Object.assign(window, { __longest: () => longest });
  return true;
}

test("a handler that throws is red in the row, the badge and the title, and a dead letter is retried and discarded", async () => {
  let isBroken = true;
  const { platform, page } = await openPortal({
    address: "#/events",
    register: (made) =>
      made.on("dm.message", async (ctx) => {
        await ctx.step("look up", async () => 7);
        if (isBroken) throw new TypeError("no price");
        await ctx.reply("It is 7.");
      }),
    bot: { maxAttempts: 2, retry: { baseMs: 20, maxMs: 20 } },
  });
  const ask = (text: string) => platform.control.act({ type: "dm.message", from: "ada", text });
  ask("how much?");
  const asked = row(page, "how much?");
  await asked.getByText("Dead letter after attempt 2: TypeError: no price").waitFor();
  await eventually(() => badge(page).textContent(), "1 failed");
  await eventually(() => page.title(), "(1 failed) Events · service-bot portal");
  await asked.click();
  await page
    .locator("strong")
    .getByText(/^events\.browser\.test\.ts:\d+:\d+$/)
    .waitFor();
  await page.getByRole("listitem").filter({ hasText: "step/look up" }).getByText("done").waitFor();
  isBroken = false;
  platform.control.clock.set({ advanceMs: 252_000 });
  await page.getByRole("button", { name: "Retry" }).click();
  await asked.getByText("Answered “It is 7.”").waitFor();
  await page
    .getByText(/^\+\d+ min \d+ s$/)
    .first()
    .waitFor();
  expect(await overlapping(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 780 });
  expect(await overlapping(page)).toEqual([]);
  await page.setViewportSize({ width: 1200, height: 760 });
  await eventually(() => badge(page).count(), 0);
  isBroken = true;
  ask("and now?");
  const second = row(page, "and now?");
  await second.getByText("Dead letter").waitFor();
  await second.click();
  await page.getByRole("button", { name: "Discard" }).click();
  await second.getByText("Discarded").waitFor();
  await eventually(() => page.title(), "Events · service-bot portal");
});

function overlapping(page: Page): Promise<readonly string[]> {
  return page.locator(".part").evaluateAll((lines) =>
    lines.flatMap((line) => {
      const cells = [...line.children].slice(0, 2).map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return { text: text.getBoundingClientRect(), cell: cell.getBoundingClientRect() };
      });
      const isBad = ({ text, cell }: (typeof cells)[number]) =>
        text.right > cell.right + 0.5 || text.height > 30;
      return cells.some(isBad) ? [line.textContent] : [];
    }),
  );
}

test("an event shows its tries and calls, runs again, is edited, and copied as curl and as a test", async () => {
  const heard: string[] = [];
  const { platform, page, bot } = await openPortal({
    register: (made) =>
      made.on("dm.message", async ({ payload, reply }) => {
        heard.push(payload.excerpt);
        await reply("Hello Ada!");
      }),
  });
  platform.control.setFaults({ webhook: { mode: "status", times: 1 } });
  const id = await greet(platform, "hello <b>you</b>");
  await page.goto(`${platform.url}/#/events/${id}`);
  await readTrace(page);
  await copy(page, id);
  await page.keyboard.press("s");
  await page
    .getByText(/The bot recognized the delivery as a duplicate, so no handler ran: 200 in \d+ ms./)
    .waitFor();
  await page.getByText("sent manually").waitFor();
  await edit(page);
  await eventually(async () => heard, ["hello <b>you</b>", "edited <b>you</b>"]);
  await bot.stop();
  await page.goto(`${platform.url}/#/events/${id}`);
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("alert").getByText("nothing is listening on").waitFor();
  await page.getByText("Start the bot with npm run dev").waitFor();
});

async function readTrace(page: Page): Promise<void> {
  const line = (name: RegExp) => page.getByRole("button", { name });
  await line(/Delivery attempt 1 fault: status 500/).click();
  await page.getByText("An injected fault caused this").waitFor();
  await page.getByText("No request was sent.").waitFor();
  await line(/Delivery attempt 2 200/).click();
  await page
    .getByText(/^Headers/)
    .first()
    .click();
  await page.getByRole("row", { name: "x-service-signature" }).waitFor();
  await line(/API POST \/dm\/conversations\//).click();
  await page.getByText('"text": "Hello Ada!"').waitFor();
  await line(/Payload/).click();
  await page.getByText('"excerpt": "hello <b>you</b>"').last().waitFor();
}

async function copy(page: Page, id: string): Promise<void> {
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.keyboard.press("c");
  await page.getByText("Copied the curl command").waitFor();
  expect(await copied()).toMatch(/^curl .*x-service-signature/is);
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog", { name: "Make a test" });
  await dialog.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied the test.").waitFor();
  expect(await copied()).toContain('text: "Hello Ada!"');
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save as a file" }).click();
  expect((await saved).suggestedFilename()).toBe(`dm-message-${id}.test.ts`);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // If access to the clipboard is denied, the page shows the text.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  });
  await page.keyboard.press("c");
  const shown = page.getByRole("textbox", { name: "curl command, valid for 5 minutes" });
  expect(await shown.inputValue()).toMatch(/^curl /);
  await page.keyboard.press("Escape");
  await shown.waitFor({ state: "detached" });
}

/** An edited delivery is signed like any other, even if it is malformed. A dialog shows its own errors. */
async function edit(page: Page): Promise<void> {
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Edit and send" });
  const body = dialog.getByRole("textbox", { name: "Body" });
  const text = await body.inputValue();
  await body.fill(text.replace("hello", "edited").replace(/"evt_\w+"/, '"evt_999999999999"'));
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText(/Delivered: 200/).waitFor();
  await body.fill("{broken");
  await dialog.getByText("Not valid JSON").waitFor();
  await dialog.getByRole("button", { name: "Send" }).click();
  const error = dialog.getByRole("alert");
  await error.getByText(/Delivery failed: 400 .*BODY_INVALID/).waitFor();
  await error.getByRole("button", { name: "Close this message" }).click();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}
