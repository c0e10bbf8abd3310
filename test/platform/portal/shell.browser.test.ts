import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { eventually, openPortal, openWindow } from "./support/page.ts";

test("keys work as in service-bot dev and select views, colours can be chosen, and no resource is external", async () => {
  const { page, platform } = await openPortal({ window: { colorScheme: "dark" } });
  await chooseViews(page);
  await actByKeys(platform, page);
  await leaveAField(platform, page);
  await chooseColours(page);
  await loadLittle(platform, page);
});

async function chooseViews(page: Page): Promise<void> {
  const heading = () => page.getByRole("heading", { level: 1 }).first().textContent();
  const current = page.getByRole("navigation", { name: "Views" }).locator("[aria-current]");
  for (const [key, name] of Object.entries({
    2: "Events",
    4: "Webhook",
    6: "Settings",
    1: "Chat",
  })) {
    await page.keyboard.press(key);
    await eventually(async () => (await heading())?.includes(name), true);
    expect(await current.textContent()).toContain(name);
    await eventually(() => page.title(), `${name} · service-bot portal`);
  }
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.getByText("The next delivery fails").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

async function actByKeys(platform: Platform, page: Page): Promise<void> {
  await page.keyboard.press("d");
  await platform.waitFor("event", ({ type, from }) => type === "dm.message" && from === "ada");
  await platform.waitFor("api", ({ text }) => text === "Hello Ada!");
  await page.keyboard.press("m");
  await platform.waitFor("event", ({ type }) => type === "mention");
  await page.keyboard.press("l");
  const { id } = await platform.waitFor("event", ({ type }) => type === "like");
  await platform.waitFor("delivery", ({ eventIds }) => eventIds.includes(id));
  await page.keyboard.press("r");
  await platform.waitFor("delivery", ({ eventIds, forced }) => forced && eventIds[0] === id);
  await page.keyboard.press("f");
  await platform.waitFor("fault", ({ change }) => change === "set");
  await page.keyboard.press("d");
  await platform.waitFor("delivery", ({ fault, status }) => fault !== undefined && status === 500);
  await platform.waitFor("delivery", ({ attempt, status }) => attempt === 2 && status === 200);
  await page.keyboard.press("w");
  await platform.waitFor("webhook", ({ change }) => change === "disabled");
  await page.getByRole("link", { name: "Webhook off" }).waitFor();
}

/** A key typed into a field triggers no shortcut, and Escape leaves the field. */
async function leaveAField(platform: Platform, page: Page): Promise<void> {
  const before = platform.control.events().length;
  await page.getByRole("banner").getByLabel("You are").focus();
  await page.keyboard.press("d");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await eventually(async () => platform.control.faults.webhook.mode, "status");
  expect(platform.control.events()).toHaveLength(before);
}

/** The page follows the system's colours, and remembers a manual choice. */
async function chooseColours(page: Page): Promise<void> {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.emulateMedia({ colorScheme: "light" });
  expect(await ground()).not.toBe(dark);
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  expect(await ground()).toBe(dark);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  expect(await ground()).toBe(dark);
}

/** Maximum gzipped size, in bytes: the size of the previous version. */
const MAX_PAGE_BYTES = 52_700;

/** The page is small, and loads no third-party resources. */
async function loadLittle(platform: Platform, page: Page): Promise<void> {
  const asked: string[] = [];
  const files: Promise<Buffer>[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("response", (response) => {
    if (/\/portal\/|\/$/.test(response.url())) files.push(response.body());
  });
  await page.reload();
  await page.getByText("live", { exact: true }).waitFor();
  expect(asked.length).toBeGreaterThan(3);
  const sizes = (await Promise.all(files)).map((bytes) => gzipSync(bytes).byteLength);
  expect(sizes.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_PAGE_BYTES);
  expect(asked.filter((url) => !url.startsWith(platform.url))).toEqual([]);
}

test("a page needs the control token, reports a lost connection, and continues with the next run", async () => {
  const run = await takePort();
  const token = "token_of_both_runs";
  const first = await run(token);
  first.control.act({ type: "follow", from: "ada" });
  const page = await openWindow();
  await typeToken(page, first);

  await first.stop();
  await page.getByText("The connection to the platform is lost").waitFor();
  const second = await run(token);
  second.control.act({ type: "like", from: "ben" });
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("@ben liked it").waitFor();
  await eventually(() => page.getByText("@ada follows the bot").count(), 0);

  // After a restart with a new token, opening the new URL in one tab updates the other tabs too.
  await second.stop();
  const third = await run("token_of_the_third");
  await page.getByText(REFUSED).waitFor();
  const other = await page.context().newPage();
  await other.goto(third.portalUrl);
  await page.getByText("live", { exact: true }).waitFor();
  expect(new URL(other.url()).hash).not.toContain(third.controlToken);
});

const REFUSED = "rejects this page's control token";

async function takePort(): Promise<(controlToken: string) => Promise<Platform>> {
  const port = await reservePort();
  return (controlToken) => runPlatform({ port, controlToken });
}

async function typeToken(page: Page, { url, controlToken }: Platform): Promise<void> {
  const connect = async (typed: string) => {
    await page.getByRole("textbox", { name: "Control token" }).fill(typed);
    await page.getByRole("button", { name: "Connect" }).click();
  };
  await page.goto(`${url}/#/events`);
  await page.getByText(REFUSED).waitFor();
  expect(await page.getByText("@ada follows the bot").count()).toBe(0);
  await connect("not_the_right_one");
  await page.getByText(REFUSED).waitFor();
  await connect(controlToken);
  await page.getByText("@ada follows the bot").waitFor();
  expect(await page.getByLabel("Control token").count()).toBe(0);
}
