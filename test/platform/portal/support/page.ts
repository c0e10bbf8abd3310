import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect, inject, onTestFinished } from "vitest";
import type { Bot, BotOptions } from "../../../../src/index.ts";
import type { ListenOptions, Platform } from "../../../faces/platform.ts";
import { runBot, runPlatform } from "../../../support/running-bot.ts";

const TIMEOUT_MS = 10_000;

let connection: Promise<Browser> | undefined;

function connectBrowser(): Promise<Browser> {
  const found = inject("browser");
  if ("missing" in found) throw new Error(found.missing);
  connection ??= chromium.connect(found.endpoint);
  return connection;
}

export interface OpenOptions {
  /** Registers the bot's handlers. Default: reply to each direct message with "Hello NAME!". */
  readonly register?: (bot: Bot) => void;
  readonly bot?: BotOptions;
  readonly platform?: ListenOptions;
  readonly window?: BrowserContextOptions;
  readonly address?: string;
}

export interface Portal {
  readonly platform: Platform;
  readonly bot: Bot;
  readonly page: Page;
}

/** Errors in the page fail the test. */
export async function openPortal({
  register,
  bot,
  platform,
  window,
  address,
}: OpenOptions = {}): Promise<Portal> {
  const running = await runPlatform({ retryIntervalMs: 300, ...platform });
  const answer = (made: Bot) => {
    made.on("dm.message", (ctx) => ctx.reply(`Hello ${ctx.payload.from.name}!`));
  };
  const started = await runBot(running, register ?? answer, bot);
  const page = await openPage(running, address, window);
  return { platform: running, bot: started.bot, page };
}

/**
 * Opens another window with its own profile.
 *
 * @param address a URL fragment such as `#/events`
 */
export async function openPage(
  { url, portalUrl }: Pick<Platform, "url" | "portalUrl">,
  address = "",
  window: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openWindow(window);
  const complaints = complaintsOf(page);
  onTestFinished(() => expect(complaints).toEqual([]));
  await page.goto(portalUrl);
  if (address !== "") {
    // The page reads the token and removes it from the URL.
    await page.waitForURL(`${url}/`);
    await page.goto(`${url}/${address}`);
  }
  await page.getByText("live", { exact: true }).waitFor();
  return page;
}

export async function openWindow(window: BrowserContextOptions = {}): Promise<Page> {
  const browser = await connectBrowser();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ["clipboard-read", "clipboard-write"],
    ...window,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  onTestFinished(() => context.close());
  return await context.newPage();
}

function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // The browser logs every error response, but the tests expect some of them.
    if (message.type() === "error" && !/^Failed to load resource/.test(text)) complaints.push(text);
  });
  return complaints;
}

export async function eventually(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  await expect.poll(read, { timeout: TIMEOUT_MS }).toEqual(expected);
}
