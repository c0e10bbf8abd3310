import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openPortal, useBrowser } from "./support/page.ts";
import { lively } from "./support/world.ts";

useBrowser();

/** What somebody with a mouse can press or fill in on the page as it is, and in which order Tab comes to it. */
async function walk(page: Page): Promise<{ all: string[]; reached: string[]; unseen: string[] }> {
  const all = await page.evaluate(() => {
    const controls = "a[href], button, input, select, textarea, summary, [role=option], [tabindex]";
    const usable = [...document.querySelectorAll<HTMLElement>(controls)].filter(
      (element) =>
        element.tabIndex >= 0 &&
        !element.matches(":disabled") &&
        element.checkVisibility({ visibilityProperty: true }),
    );
    return usable.map((element, index) => {
      element.dataset["stop"] = String(index);
      return `${index} ${element.outerHTML.slice(0, 120)}`;
    });
  });
  const reached: string[] = [];
  const unseen: string[] = [];
  for (let presses = 0; presses <= 2 * all.length + 10; presses += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return undefined;
      const { outlineStyle, boxShadow } = getComputedStyle(element);
      return {
        stop: element.dataset["stop"],
        visible: outlineStyle !== "none" || boxShadow !== "none",
      };
    });
    const name = all[Number(focused?.stop)];
    // A field with a date has several places in it.
    if (name === undefined || name === reached.at(-1)) continue;
    if (reached.includes(name)) break;
    reached.push(name);
    if (focused?.visible === false) unseen.push(name);
  }
  return { all, reached, unseen };
}

test("Tab comes to everything on every view, in the order in which it stands, and shows where it is", {
  timeout: 90_000,
}, async () => {
  const { platform, page } = await openPortal();
  const { conversationId, eventId } = await lively(platform);
  const views = ["chat", "posts", "events", "webhook", "faults", "state"];
  for (const address of [...views, `chat/${conversationId}`, `events/${eventId}`]) {
    // Anew each time, so that Tab begins at the top.
    await page.goto("about:blank");
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    // Nothing comes or goes while it is walked through.
    await page.waitForLoadState("networkidle").catch(() => undefined);
    const { all, reached, unseen } = await walk(page);
    expect(all.length, address).toBeGreaterThan(15);
    expect(
      all.filter((name) => !reached.includes(name)),
      address,
    ).toEqual([]);
    expect(unseen, address).toEqual([]);
  }
});

test("without a mouse: write, look at the event, send it again, take a snapshot", {
  timeout: 40_000,
}, async () => {
  const { platform, page } = await openPortal();
  await page.getByRole("textbox", { name: "Message to @bot as @ada" }).waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("by hand");
  await page.keyboard.press("Enter");
  await platform.waitFor("api", ({ text }) => text === "Hello Ada!");
  const { id } = await platform.waitFor("event", ({ type }) => type === "dm.message");
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await page.getByText(`--> dm.message ${id}`).waitFor();
  await page.keyboard.press("j");
  for (
    let moves = 0;
    moves < 20 && !(await selected(page)).includes(`--> dm.message ${id}`);
    moves += 1
  ) {
    await page.keyboard.press("k");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Event ${id}` }).waitFor();
  await page.getByRole("button", { name: "Send again" }).waitFor();
  await page.keyboard.press("s");
  await platform.waitFor("delivery", ({ forced, eventIds }) => forced && eventIds[0] === id);
  await page.keyboard.press("6");
  await page.getByRole("heading", { level: 1, name: "State" }).waitFor();
  await page.keyboard.press("t");
  await platform.waitFor("state", ({ change }) => change === "snapshot");
});

/** The text of the line that is chosen in the timeline. */
async function selected(page: Page): Promise<string> {
  return (
    (await page
      .locator("[aria-selected=true], [aria-current=true]")
      .first()
      .textContent({ timeout: 2_000 })
      .catch(() => "")) ?? ""
  );
}
