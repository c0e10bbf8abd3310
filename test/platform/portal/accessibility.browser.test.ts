import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { array, object, string } from "zod";
import type { Bot } from "../../../src/index.ts";
import { INSTALL_TIMEOUT_MS, installPeer } from "../../peers/install.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { violationsOf } from "./support/axe.ts";
import { openPage, openPortal } from "./support/page.ts";
import { lively } from "./support/world.ts";

beforeAll(() => installPeer("accessibility"), INSTALL_TIMEOUT_MS);

const VIEWS = ["chat", "chat/posts", "events", "state", "webhook", "faults", "settings"];
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

/** Dialogs do not fade in, so that no colour is measured halfway. */
const WINDOW = { colorScheme: "light", reducedMotion: "reduce" } as const;

/** Looks at a page in both schemes. A scheme changes colours alone. */
async function expectNoViolations(page: Page, name: string): Promise<void> {
  expect(await violationsOf(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violationsOf(page, "colours"), `${name}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

const Seen = object({ texts: array(string()).default([]) });

/** Registers handlers that fill the State view. */
function withState(bot: Bot): void {
  bot.onTimer("remind", () => undefined);
  for (const name of ["daily", "weekly"]) bot.cron(name, "0 9 * * 1", () => undefined);
  bot.on("dm.message", async (ctx) => {
    (await ctx.state(`dm:${ctx.payload.conversationId}`, Seen)).texts.push(ctx.payload.excerpt);
    await ctx.later("remind", "1h");
    await ctx.reply(`Hello ${ctx.payload.from.name}!`);
  });
}

test("axe-core finds nothing on any view, none is wider than a phone, and Tab comes to everything on it", async () => {
  const { platform, page } = await openPortal({ window: WINDOW, register: withState });
  const { conversationId, eventId } = await lively(platform);
  for (const address of [...VIEWS, `chat/${conversationId}`, `events/${eventId}`]) {
    // Anew each time, so that Tab begins at the top.
    await page.goto("about:blank");
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    // Nothing may come or go during the walk.
    await page.waitForLoadState("networkidle").catch(() => undefined);
    await expectTabReachesEverything(page, address);
    await expectNoViolations(page, address);
    await page.setViewportSize(PHONE);
    expect(await violationsOf(page, "others"), `${address} on a phone`).toEqual([]);
    expect(await page.evaluate(widthOfPage), address).toBeLessThanOrEqual(PHONE.width);
    await page.setViewportSize(DESKTOP);
  }
});

/** Runs in the page. */
function widthOfPage(): number {
  const main = document.querySelector("main")?.scrollWidth ?? 0;
  return Math.max(document.documentElement.scrollWidth, main);
}

/** Tab comes to all that a mouse can press or fill in, in the order in which it stands, and shows where it is. */
async function expectTabReachesEverything(page: Page, address: string): Promise<void> {
  const names = await page.evaluate(watchFocus);
  expect(names.length, address).toBeGreaterThan(15);
  let reached: Awaited<ReturnType<typeof readFocus>> = [];
  for (let presses = 0; presses <= 2 * names.length + 10; presses += 10) {
    for (let press = 0; press < 10; press += 1) await page.keyboard.press("Tab");
    reached = await page.evaluate(readFocus);
    if (new Set(reached.map(({ stop }) => stop)).size === names.length) break;
  }
  const stops = [...new Set(reached.map(({ stop }) => stop))];
  expect(
    names.filter((_, stop) => !stops.includes(stop)),
    address,
  ).toEqual([]);
  expect(stops, `${address}: the order`).toEqual(stops.toSorted((a, b) => a - b));
  const unseen = reached.filter(({ visible }) => !visible).map(({ stop }) => names[stop]);
  expect(unseen, address).toEqual([]);
}

/** Numbers what can be used, and writes down what gets the focus. Runs in the page. */
function watchFocus(): string[] {
  const controls = "a[href], button, input, select, textarea, summary, [role=option], [tabindex]";
  const usable = [...document.querySelectorAll<HTMLElement>(controls)].filter(
    (element) =>
      element.tabIndex >= 0 &&
      !element.matches(":disabled") &&
      element.checkVisibility({ visibilityProperty: true }),
  );
  const seen: { stop: number; visible: boolean }[] = [];
  Object.assign(window, { __seen: seen });
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const stop = usable.indexOf(target);
    if (stop < 0) return;
    const { outlineStyle, boxShadow } = getComputedStyle(target);
    seen.push({ stop, visible: outlineStyle !== "none" || boxShadow !== "none" });
  });
  return usable.map(({ outerHTML }, stop) => `${stop} ${outerHTML.slice(0, 120)}`);
}

/** Runs in the page. */
function readFocus(): { stop: number; visible: boolean }[] {
  return Reflect.get(window, "__seen");
}

test("nor does axe-core on a platform where nothing has happened yet, nor in a dialog", async () => {
  const platform = await runPlatform();
  platform.control.saveWebhook({ enabled: false });
  const page = await openPage(platform, "", WINDOW);
  const visit = async (address: string) => {
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
  };
  for (const view of VIEWS) {
    await visit(view);
    await expectNoViolations(page, `${view}, empty`);
  }
  const dialog = page.getByRole("dialog");
  await page.keyboard.press("?");
  await dialog.waitFor();
  await expectNoViolations(page, "the keys");
  await page.keyboard.press("Escape");

  platform.control.snapshots.take("before");
  await page.getByRole("button", { name: "Restore before" }).click();
  await expectNoViolations(page, "a question");
  await page.keyboard.press("Escape");

  await visit("webhook");
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("Sent a dm.message event.").waitFor();
  await page.getByRole("button", { name: "Regenerate the signing secret" }).click();
  await page.getByRole("button", { name: "Regenerate", exact: true }).click();
  await page.getByText("This is shown once.").waitFor();
  await expectNoViolations(page, "a secret");
  await page.getByRole("button", { name: "I have it" }).click();

  const [event] = platform.control.events();
  await visit(`events/${event?.id}`);
  await page.getByRole("button", { name: "Edit and send" }).click();
  await dialog.getByRole("textbox", { name: "Body" }).fill("{broken");
  await dialog.getByText("Not valid JSON").waitFor();
  await expectNoViolations(page, "an edited event");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("t");
  await dialog.waitFor();
  await expectNoViolations(page, "a test");
  await page.keyboard.press("Escape");

  // Control: axe-core runs and finds what is wrong.
  await page.evaluate(() => {
    document.querySelector("main")?.append(document.createElement("input"));
  });
  expect((await violationsOf(page)).join()).toContain("label");
});
