import { expect, test } from "vitest";
import { runPlatform } from "../../support/running-bot.ts";
import { violationsOf } from "./support/axe.ts";
import { openPage, openPortal, useBrowser } from "./support/page.ts";
import { lively } from "./support/world.ts";

useBrowser();

const views = ["chat", "posts", "events", "webhook", "faults", "state"];
const schemes = ["light", "dark"] as const;
const phone = { width: 390, height: 780 };

test.each(schemes)(
  "axe-core finds nothing on any view, %s",
  { timeout: 90_000 },
  async (colorScheme) => {
    const { platform, page } = await openPortal({ window: { colorScheme } });
    const { conversationId, eventId } = await lively(platform);
    const addresses = [...views, `chat/${conversationId}`, `events/${eventId}`];
    for (const viewport of [page.viewportSize(), phone]) {
      if (viewport !== null) await page.setViewportSize(viewport);
      for (const address of addresses) {
        await page.goto(`${platform.url}/#/${address}`);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        expect(await violationsOf(page), `${address} at ${viewport?.width}`).toEqual([]);
      }
    }
  },
);

test.each(schemes)("nor on a platform where nothing has happened yet, %s", async (colorScheme) => {
  const platform = await runPlatform();
  const page = await openPage(platform, "", { colorScheme });
  for (const view of views) {
    await page.goto(`${platform.url}/#/${view}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    expect(await violationsOf(page), view).toEqual([]);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  expect(await violationsOf(page), "the keys").toEqual([]);
});

test("axe-core would find something", async () => {
  const { page } = await openPortal();
  await page.evaluate(() => {
    document.querySelector("main")?.append(document.createElement("input"));
  });
  expect((await violationsOf(page)).join()).toContain("label");
});

test("no view is wider than a phone", async () => {
  const { platform, page } = await openPortal({
    window: { viewport: { width: 360, height: 700 } },
  });
  const { conversationId, eventId } = await lively(platform);
  for (const address of [...views, `chat/${conversationId}`, `events/${eventId}`]) {
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const width = await page.evaluate(() =>
      Math.max(
        document.documentElement.scrollWidth,
        document.querySelector("main")?.scrollWidth ?? 0,
      ),
    );
    expect(width, address).toBeLessThanOrEqual(360);
  }
});
