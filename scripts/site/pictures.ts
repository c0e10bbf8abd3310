/**
 * Builds the site and takes screenshots of the home page, a guide, a reference page and a search, on desktop and phone,
 * in light and dark mode. The pictures are not part of docs/ and not in git.
 *
 *     npm run docs -- site-pictures
 *     node scripts/site/pictures.ts [DIR]
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { chromium as browserProgram } from "../../test/support/chromium.ts";
import { root } from "../root.ts";
import { buildSite } from "./build.ts";
import { serveSite } from "./serve.ts";

const BASE = "/service-bot/";
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const PAGES = {
  first: "",
  guide: "guides/reminders.html",
  reference: "reference/api/service-bot.html",
  table: "reference/configuration.html",
};

const [out = join(root, "scripts", "screenshots", "views", "site")] = process.argv.slice(2);
await mkdir(out, { recursive: true });
const site = await serveSite(await buildSite({ base: BASE }), BASE);
const browser = await chromium.launch({ executablePath: browserProgram(), args: ["--no-sandbox"] });
try {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      const take = async (name: string): Promise<void> => {
        await page.screenshot({ path: join(out, `${name}_${size}_${colorScheme}.png`) });
      };
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(`${site.url}${path}`, { waitUntil: "networkidle" });
        await take(name);
      }
      await search(page, "dead letter");
      await take("search");
      await context.close();
    }
  }
  console.log(`The pictures are in ${out}`);
} finally {
  await browser.close();
  await site.stop();
}

async function search(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "Search" }).first().click();
  await page.getByRole("searchbox").fill(words);
  await page.getByRole("option").first().waitFor();
}
