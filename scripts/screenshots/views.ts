/**
 * Takes screenshots of every view of the portal, for visual inspection: empty, in use and in trouble, on desktop and
 * phone, in light and dark mode. The pictures are not part of docs/ and not in git.
 *
 *     npm run docs -- views
 *     node scripts/screenshots/views.ts [DIR]
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { z } from "zod";
import { Bot } from "../../src/index.ts";
import { type Platform, startPlatform } from "../../src/platform/index.ts";
import { chromium as browserProgram } from "../../test/support/chromium.ts";
import { buildPortal } from "../pack/portal.ts";
import { root } from "../root.ts";

const CHAT = ["chat", "chat/list", "chat/posts"];
const VIEWS = [...CHAT, "events", "state", "webhook", "faults", "settings"];
const SIZES = { desktop: { width: 1200, height: 760 }, phone: { width: 390, height: 780 } };

/** In ms. Longer than a view takes to load. */
const SETTLE_MS = 700;

const Seen = z.object({ texts: z.array(z.string()).default([]) });

const [out = join(root, "scripts", "screenshots", "views")] = process.argv.slice(2);
await mkdir(out, { recursive: true });
await buildPortal(join(root, "src", "platform", "portal", "static"));
const platform = await startPlatform({ retryIntervalMs: 500 });
const bot = await startBot(platform);
const browser = await chromium.launch({ executablePath: browserProgram(), args: ["--no-sandbox"] });
try {
  await takePictures(browser, platform, "empty");
  await use(platform);
  await takePictures(browser, platform, "use");
  await takePictures(browser, platform, "trouble", [...VIEWS, `events/${await trouble(platform)}`]);
  console.log(`The pictures are in ${out}`);
} finally {
  await browser.close();
  await bot.stop();
  await platform.stop();
}

async function startBot({ url, apiKey, webhookSecret, control }: Platform): Promise<Bot> {
  const made = new Bot({
    ...{ env: {}, baseUrl: url, apiKey, webhookSecret, port: 0 },
    ...{ databaseUrl: "file::memory:", maxAttempts: 2, retry: { baseMs: 100, maxMs: 100 } },
    logLevel: "silent",
  });
  made.on("dm.message", async (ctx) => {
    const { payload } = ctx;
    if (payload.excerpt.includes("price")) throw new TypeError("Cannot read 'price' of undefined");
    (await ctx.state(`dm:${payload.conversationId}`, Seen)).texts.push(payload.excerpt);
    await ctx.later("remind", "1h");
    await ctx.reply(`Hi ${payload.from.name}! You wrote: ${payload.excerpt}`);
  });
  made.onTimer("remind", () => undefined);
  made.cron("digest", "0 9 * * MON-FRI", { timeZone: "Europe/Paris" }, (ctx) => ctx.post("News"));
  made.on("mention", (ctx) => ctx.reply("Thanks for the mention."));
  await made.start({ standalone: false });
  control.saveWebhook({ url: `${made.url}/webhook` });
  return made;
}

async function use(on: Platform): Promise<void> {
  const { control } = on;
  control.act({ type: "dm.message", from: "ada", text: "hello" });
  const { postId = "" } = control.act({ type: "post", from: "ada", text: "tea?", images: 1 });
  control.act({ type: "mention", from: "ben", postId, text: "@bot what do you say?" });
  control.act({ type: "follow", from: "cleo" });
  await on.waitFor("run", ({ outcome }) => outcome === "done");
}

async function trouble(on: Platform): Promise<string> {
  const { control } = on;
  const { events } = control.act({ type: "dm.message", from: "ada", text: "what is the price?" });
  await on.waitFor("run", ({ outcome }) => outcome === "dead");
  control.setFaults({ api: { mode: "mix", rate: 0.3 } });
  control.saveWebhook({ enabled: false });
  control.act({ type: "dm.message", from: "ada", text: "are you there?" });
  return events[0]?.id ?? "";
}

async function takePictures(
  from: Browser,
  { url, portalUrl }: Platform,
  state: string,
  views: readonly string[] = VIEWS,
): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const context = await from.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      await page.goto(portalUrl);
      await page.waitForURL(`${url}/`);
      for (const view of views) {
        await page.goto(`${url}/#/${view}`);
        await page.waitForTimeout(SETTLE_MS);
        const name = [state, view.replaceAll("/", "-"), size, colorScheme].join("_");
        await page.screenshot({ path: join(out, `${name}.png`) });
      }
      await context.close();
    }
  }
}
