import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildSite } from "../../scripts/site/build.ts";
import { sitePages } from "../../scripts/site/links.ts";
import { type ServedSite, serveSite } from "../../scripts/site/serve.ts";
import { INSTALL_TIMEOUT_MS } from "../../tools/install.ts";
import { violationsOf } from "../platform/portal/support/axe.ts";
import { openWindow } from "../platform/portal/support/page.ts";

/** GitHub Pages serves a project's site under the project's name. */
const BASE = "/service-bot/";

const folder = mkdtempSync(join(tmpdir(), "service-bot-site-"));
let site: ServedSite;

// A dead link makes the build fail.
beforeAll(async () => {
  site = await serveSite(await buildSite({ base: BASE, folder }), BASE);
}, INSTALL_TIMEOUT_MS);
afterAll(async () => {
  await site?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const PAGES = {
  "the first page": "",
  "a guide": "guides/reminders.html",
  "a page of the reference": "reference/api/client.html",
  "a page with wide tables": "reference/configuration.html",
};

describe.each([
  { name: "desktop", width: 1280, height: 800 },
  { name: "phone", width: 390, height: 844 },
])("on a $name,", ({ width, height }) => {
  test.each(Object.entries(PAGES))("%s is accessible and needs no other host", async (_, path) => {
    const page = await open(path, { width, height });
    await expectNoViolations(page);
    const widest = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(widest).toBeLessThanOrEqual(width);
  });

  test("a search finds a page, and is accessible", async () => {
    const page = await open("", { width, height });
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.getByRole("searchbox").fill("dead letter");
    await page.getByRole("option").first().waitFor();
    await expectNoViolations(page);
    await page.getByRole("option").first().click();
    await page.waitForURL(/\.html/);
  });
});

test("pages, headings and pictures are at the addresses that the packages name", async () => {
  for (const path of sitePages().keys()) {
    expect((await fetch(`${site.url}${path.slice(1)}`)).status, path).toBe(200);
  }
  const alerts = await (await fetch(`${site.url}operate/alerts.html`)).text();
  expect(alerts).toContain('id="servicebotdown"');
  const picture = await fetch(`${site.url}images/portal-chat.png`);
  expect(picture.headers.get("content-type")).toBe("image/png");
});

async function open(path: string, viewport: { width: number; height: number }): Promise<Page> {
  const page = await openWindow({ viewport, reducedMotion: "reduce", colorScheme: "light" });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(site.url)) complaints.push(request.url());
  });
  onTestFinished(() => expect(complaints).toEqual([]));
  await page.goto(`${site.url}${path}`, { waitUntil: "networkidle" });
  return page;
}

async function expectNoViolations(page: Page): Promise<void> {
  expect(await violationsOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await violationsOf(page, "colours"), "dark").toEqual([]);
}
