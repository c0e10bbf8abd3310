import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { array, object, string } from "zod";
import type { Bot } from "../../../src/index.ts";
import { INSTALL_TIMEOUT_MS, installTools } from "../../../tools/install.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { violationsOf } from "./support/axe.ts";
import { openPage, openPortal } from "./support/page.ts";
import { lively } from "./support/world.ts";

beforeAll(() => installTools(), INSTALL_TIMEOUT_MS);

const VIEWS = ["chat", "chat/posts", "events", "state", "webhook", "faults", "settings"];
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

/** Minimum width and height of a target on a phone (WCAG 2.5.5), in px. */
const TARGET = 44;

/** Disables fading, so that no colour is measured in mid-transition. */
const WINDOW = { colorScheme: "light", reducedMotion: "reduce" } as const;

/**
 * Checks a page in both colour schemes. The second check covers only colours, because the schemes do not differ
 * otherwise.
 */
async function expectNoViolations(page: Page, name: string): Promise<void> {
  expect(await violationsOf(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violationsOf(page, "colours"), `${name}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

const Seen = object({ texts: array(string()).default([]) });

function withState(bot: Bot): void {
  bot.onTimer("remind", () => undefined);
  bot.on("follow", () => {
    throw new TypeError("Cannot read 'price' of undefined");
  });
  for (const name of ["daily", "weekly"]) bot.cron(name, "0 9 * * 1", () => undefined);
  bot.on("dm.message", async (ctx) => {
    (await ctx.state(`dm:${ctx.payload.conversationId}`, Seen)).texts.push(ctx.payload.excerpt);
    await ctx.later("remind", "1h");
    await ctx.reply(`Hello ${ctx.payload.from.name}!`);
  });
}

test("on every view axe-core finds no violation, Tab reaches each control, and a phone shows all of it, large enough", async () => {
  // A retry would change the page while Tab moves through it.
  const bot = { maxAttempts: 1 };
  const { platform, page } = await openPortal({ window: WINDOW, register: withState, bot });
  const [dead] = platform.control.act({ type: "follow", from: "ada" }).events;
  await platform.waitFor("run", ({ outcome }) => outcome === "dead");
  const { conversationId, eventId } = await lively(platform);
  const ids = [`chat/${conversationId}`, `events/${eventId}`, `events/${dead?.id}`];
  let measured = 0;
  for (const address of [...VIEWS, "chat/list", ...ids]) {
    // Open a fresh page each time, so that Tab starts at the top.
    await page.goto("about:blank");
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    // The page must not change while Tab moves through it.
    await page.waitForLoadState("networkidle").catch(() => undefined);
    await expectTabReachesEverything(page, address);
    await expectNoViolations(page, address);
    await page.setViewportSize(PHONE);
    expect(await violationsOf(page, "others"), `${address} on a phone`).toEqual([]);
    expect(await page.evaluate(widthOfPage), address).toBeLessThanOrEqual(PHONE.width);
    const targets = await page.evaluate(measureTargets);
    const small = targets.filter(({ width, height }) => Math.min(width, height) < TARGET - 0.5);
    expect(small, `${address}: targets below ${TARGET} px`).toEqual([]);
    measured += targets.length;
    await page.setViewportSize(DESKTOP);
  }
  expect(measured).toBeGreaterThan(150);
});

/** Measures all clickable elements, including those in collapsed parts, which it expands. Runs in the page. */
function measureTargets(): { name: string; width: number; height: number }[] {
  for (const details of document.querySelectorAll("details")) details.open = true;
  // Without this style, an off-screen row has no layout.
  for (const row of document.querySelectorAll<HTMLElement>(".event-row")) {
    row.style.contentVisibility = "visible";
  }
  const controls = "a[href], button, input, select, textarea, summary, [role=option]";
  return [...document.querySelectorAll<HTMLElement>(controls)].flatMap((element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return [];
    // The skip link has a size only while it is focused.
    if (element.matches(".skip")) return [];
    // A link within a sentence is only as high as its line, which WCAG 2.5.8 allows.
    const isInline = element.matches("a") && getComputedStyle(element).display === "inline";
    const text = [...(element.parentNode?.childNodes ?? [])].map((node) => {
      return node.nodeType === Node.TEXT_NODE ? (node.textContent ?? "").trim() : "";
    });
    if (isInline && text.join("") !== "") return [];
    const target = element.matches("[type=checkbox]") ? element.closest("label") : element;
    const { width, height } = (target ?? element).getBoundingClientRect();
    return [{ name: element.outerHTML.slice(0, 120), width, height }];
  });
}

function widthOfPage(): number {
  const main = document.querySelector("main")?.scrollWidth ?? 0;
  return Math.max(document.documentElement.scrollWidth, main);
}

/** Expects Tab to reach everything that a mouse can click or fill in, in document order and with a visible focus. */
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

/** Numbers the focusable elements, and records which of them get the focus. Runs in the page. */
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

function readFocus(): { stop: number; visible: boolean }[] {
  return Reflect.get(window, "__seen");
}

test("axe-core finds no violation on a new platform or in a dialog", async () => {
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
  await page.getByText("This is shown only once.").waitFor();
  await expectNoViolations(page, "a secret");
  await page.getByRole("button", { name: "Done", exact: true }).click();

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

  // Positive control: axe-core is running, and reports an input without a label.
  await page.evaluate(() => {
    document.querySelector("main")?.append(document.createElement("input"));
  });
  expect((await violationsOf(page)).join()).toContain("label");
});
