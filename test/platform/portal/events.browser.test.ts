import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { eventually, openPage, openPortal } from "./support/page.ts";

const list = (page: Page) => page.getByRole("listbox", { name: "Timeline" });
const lines = (page: Page) => list(page).getByRole("option");
const line = (page: Page, hasText: string | RegExp) => lines(page).filter({ hasText });
const details = (page: Page) => page.getByRole("region", { name: "Details" });
const find = (page: Page) => page.getByRole("searchbox", { name: "Find" });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");
const count = (page: Page, text: string) =>
  page.getByRole("status").getByText(text, { exact: true });

/** Writes to the bot, and waits for its answer. */
async function greet(platform: Platform, text: string): Promise<string> {
  const { events } = platform.control.act({ type: "dm.message", from: "ada", text });
  const id = events[0]?.id ?? "";
  await platform.waitFor("api", ({ eventId, method }) => eventId === id && method === "POST");
  return id;
}

test("the timeline shows what happens, narrows it, and goes by the keyboard alone", async () => {
  const { platform, page } = await openPortal({ address: "#/events" });
  await showWhatHappens(page);
  const [event] = platform.control.events();
  const id = event?.id ?? "";
  platform.control.act({ type: "poll.created", from: "ben" });
  await narrow(page, id);
  await showReads(platform, page);
  await goByKeyboard(page, id);
});

async function showWhatHappens(page: Page): Promise<void> {
  await find(page).fill("dm.message");
  await page.getByText("No entries fit.").waitFor();
  await find(page).blur();
  await page.keyboard.press("d");
  await line(page, "--> dm.message")
    .filter({ hasText: '@ada "hello"' })
    .filter({ hasText: "handled" })
    .waitFor();
  await find(page).fill("");
  await line(page, /<-- \[200\] \d+ ms {2}attempt 1/).waitFor();
  await line(page, /api POST .* \[201\] \d+ ms "Hello Ada!"/).waitFor();
}

/** The page remembers the search. */
async function narrow(page: Page, id: string): Promise<void> {
  await line(page, "poll.created").waitFor();
  await find(page).fill("@ben event");
  await eventually(() => line(page, id).count(), 0);
  await eventually(() => lines(page).count(), 1);
  await page.reload();
  await eventually(() => lines(page).count(), 1);
  expect(await find(page).inputValue()).toBe("@ben event");
  await find(page).fill("@ben like");
  const empty = page.locator(".empty", { hasText: "No entries fit." });
  await empty.getByRole("button", { name: "Clear the search" }).click();
  await line(page, id).first().waitFor();
}

/** Reads are folded away until they are asked for. */
async function showReads(platform: Platform, page: Page): Promise<void> {
  expect(await line(page, "api GET").count()).toBe(0);
  await fetch(`${platform.url}/api/v1/me`, {
    headers: { authorization: `Bearer ${platform.apiKey}` },
  });
  await page.getByRole("checkbox", { name: "Show reads" }).check();
  await line(page, "api GET /me [200]").last().waitFor();
}

async function goByKeyboard(page: Page, id: string): Promise<void> {
  await find(page).fill("evt_ -->");
  await eventually(() => lines(page).count(), 2);
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
}

test("thousands of entries come in pages, and the newest is followed until one scrolls away", async () => {
  const platform = await runPlatform();
  platform.control.saveWebhook({ enabled: false });
  const page = await openPage(platform, "#/events");
  platform.control.act({ type: "like", from: "ada", count: 1_000 });
  await find(page).fill("-->");
  await eventually(() => lines(page).count(), 200);
  await goThroughPages(page);
  await follow(platform, page);
});

async function goThroughPages(page: Page): Promise<void> {
  const active = () => list(page).locator("[aria-selected=true]").textContent();
  await page.getByRole("button", { name: "Show older (800)" }).click();
  await eventually(() => lines(page).count(), 400);
  await list(page).focus();
  await page.keyboard.press("End");
  await eventually(async () => (await active())?.includes("evt_000000001000"), true);
  await page.keyboard.press("k");
  await eventually(async () => (await active())?.includes("evt_000000000999"), true);
  await page.keyboard.press("PageUp");
  await eventually(async () => (await active())?.includes("evt_000000000984"), true);
  await page.keyboard.press("Home");
  await eventually(async () => (await active())?.includes("evt_000000000001"), true);
  expect(await lines(page).count()).toBe(1_000);
  await page.keyboard.press("End");
}

/** A button comes back to the newest. */
async function follow(platform: Platform, page: Page): Promise<void> {
  const top = () => list(page).evaluate((each) => each.scrollTop);
  const fromEnd = () =>
    list(page).evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop);
  await eventually(fromEnd, 0);
  platform.control.act({ type: "like", from: "ben", count: 50 });
  await count(page, "1050 of 1051 entries").waitFor();
  await eventually(fromEnd, 0);
  await list(page).hover();
  await page.mouse.wheel(0, -900);
  await eventually(async () => (await fromEnd()) > 800, true);
  const first = await list(page).evaluate(firstInSight);
  const before = await top();
  platform.control.act({ type: "like", from: "ben", count: 50 });
  await count(page, "1100 of 1101 entries").waitFor();
  expect(await top()).toBe(before);
  expect(await list(page).evaluate(firstInSight)).toBe(first);
  const button = page.getByRole("button", { name: "Follow the newest" });
  await button.click();
  await eventually(fromEnd, 0);
  await eventually(() => button.count(), 0);
}

/** The text of the line at the top of the list. Runs in the page. */
function firstInSight(rows: Element): string | null | undefined {
  const { top } = rows.getBoundingClientRect();
  const options = [...rows.querySelectorAll("[role=option]")];
  return options.find((each) => each.getBoundingClientRect().bottom > top + 1)?.textContent;
}

test("an event shows its tries and calls, is sent again, edited, and copied as curl and as a test", async () => {
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
  await readDetails(page);
  await copy(page, id);
  await sendAgain(page);
  await edit(page);
  expect(heard).toEqual(["hello <b>you</b>", "edited <b>you</b>"]);
  await watch(platform, page);
  await bot.stop();
  await page.goto(`${platform.url}/#/events/${id}`);
  await details(page).getByRole("button", { name: "Send again" }).click();
  await page.getByRole("alert").getByText("nothing listens on").waitFor();
  await details(page).getByText("Start the bot: npm run dev.").waitFor();
});

async function readDetails(page: Page): Promise<void> {
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
}

async function copy(page: Page, id: string): Promise<void> {
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.keyboard.press("c");
  await page.getByText("A curl line").waitFor();
  expect(await copied()).toMatch(/^curl .*x-service-signature/is);
  await page.keyboard.press("t");
  const dialog = page.getByRole("dialog", { name: "A test fixture" });
  await dialog.getByRole("button", { name: "Copy" }).click();
  await page.getByText("The test is copied.").waitFor();
  expect(await copied()).toContain('text: "Hello Ada!"');
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save as a file" }).click();
  expect((await saved).suggestedFilename()).toBe(`dm-message-${id}.test.ts`);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // The text is shown if a page may not copy.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
  });
  await page.keyboard.press("c");
  const shown = page.getByRole("textbox", { name: "curl, signed for 5 minutes" });
  expect(await shown.inputValue()).toMatch(/^curl /);
  await page.keyboard.press("Escape");
  await shown.waitFor({ state: "detached" });
}

async function sendAgain(page: Page): Promise<void> {
  await page.keyboard.press("s");
  await page.getByText(/Sent again: \[200\]/).waitFor();
  await details(page).getByText("Deliveries (3)").waitFor();
}

/** Signed as any other, and broken when it is meant to be. */
async function edit(page: Page): Promise<void> {
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Edit and send" });
  const body = dialog.getByRole("textbox", { name: "Body" });
  const text = await body.inputValue();
  await body.fill(text.replace("hello", "edited").replace(/"evt_\w+"/, '"evt_999999999999"'));
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("[200]", { exact: true }).waitFor();
  await body.fill("{broken");
  await dialog.getByText("This is no JSON").waitFor();
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByText("on purpose?").waitFor();
  await dialog.getByRole("button", { name: "Send it broken" }).click();
  await dialog.getByText("[400]", { exact: true }).waitFor();
  await dialog.getByRole("link", { name: /^dlv_/ }).click();
  await details(page)
    .getByRole("heading", { name: /^Delivery dlv_/ })
    .waitFor();
  await details(page).getByText("{broken").waitFor();
}

/** An event that is open is live. An error in its dialog is in the dialog, where it can be closed. */
async function watch(platform: Platform, page: Page): Promise<void> {
  platform.control.setFaults({ webhook: { mode: "drop" } });
  const { events } = platform.control.act({ type: "follow", from: "ada" });
  await page.goto(`${platform.url}/#/events/${events[0]?.id}`);
  await details(page).getByText("attempt 2").waitFor();
  expect(await details(page).getByText("delivered", { exact: true }).count()).toBe(0);
  platform.control.setFaults({ webhook: { mode: "none" } });
  await details(page).getByText("delivered", { exact: true }).first().waitFor();
  await details(page).getByText("None on record.").waitFor();

  await page.getByRole("button", { name: "Edit and send" }).click();
  platform.control.saveWebhook({ enabled: false });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Send/ }).click();
  const error = dialog.getByRole("alert");
  await error.getByText("The webhook is off").waitFor();
  await error.getByRole("button", { name: "Close this message" }).click();
  await page.keyboard.press("Escape");
  platform.control.saveWebhook({ enabled: true });
}
