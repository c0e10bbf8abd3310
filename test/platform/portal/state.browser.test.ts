import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { request } from "../support/platform.ts";
import { violationsOf } from "./support/axe.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

async function openState() {
  const opened = await openPortal();
  await opened.page.goto(`${opened.platform.url}/#/state`);
  await card(opened.page, /^Bots/).waitFor();
  return opened;
}

const card = (page: Page, name: RegExp | string) => page.getByRole("region", { name });
const isFocused = (element: Element) => element === document.activeElement;

describe("bots and tokens", () => {
  test("a new bot is shown with its secrets once, and can be looked at and disabled", async () => {
    const { platform, page } = await openState();
    const bots = card(page, /^Bots/);
    await bots.getByLabel("Username").fill("@Helper");
    await bots.getByLabel("Name", { exact: true }).fill("The Helper");
    await bots.getByRole("button", { name: "Make bot" }).click();
    const shown = page.getByRole("dialog", { name: "@helper is there" });
    const lines = (await shown.getByLabel("Lines for the .env of the bot").textContent()) ?? "";
    expect(lines.split("\n")).toEqual([
      `SERVICE_BASE_URL=${platform.url}`,
      expect.stringMatching(/^SERVICE_API_KEY=sbk_/),
      expect.stringMatching(/^SERVICE_WEBHOOK_SECRET=whsec_/),
    ]);
    await shown.getByRole("button", { name: "I have it" }).click();
    await bots.getByRole("button", { name: "Look at @helper" }).click();
    await card(page, "Tokens of @helper").waitFor();
    await bots.getByRole("button", { name: "Disable the app of @helper" }).click();
    await page.getByRole("button", { name: "Disable", exact: true }).click();
    await bots.getByText("disabled", { exact: true }).waitFor();
    expect(platform.control.apps.list().map(({ disabled }) => disabled)).toEqual([false, true]);
  });

  test("a token is made with the scopes that are checked, shown once, and revoked", async () => {
    const { platform, page } = await openState();
    const tokens = card(page, "Tokens of @bot");
    await tokens.getByRole("checkbox", { name: "read", exact: false }).first().uncheck();
    await tokens.getByRole("checkbox", { name: "posts:write" }).check();
    await tokens.getByRole("button", { name: "Make token" }).click();
    const shown = page.getByRole("dialog", { name: "New token of @bot" });
    await shown.getByText("posts:write, dm").waitFor();
    await shown.getByRole("button", { name: "I have it" }).click();
    const [, made] = platform.control.apps.tokens();
    expect(made?.scopes).toEqual(["posts:write", "dm"]);
    await tokens.getByRole("button", { name: `that ends in ${made?.lastFour}` }).click();
    await page.getByText("is answered with 401 from now on").waitFor();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await eventually(async () => platform.control.apps.tokens().length, 1);
    await eventually(() => tokens.getByRole("heading", { level: 2 }).evaluate(isFocused), true);
  });

  test("the standard token is not revoked without a warning", async () => {
    const { page } = await openState();
    const tokens = card(page, "Tokens of @bot");
    await tokens.getByText("standard", { exact: true }).waitFor();
    await tokens.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByText("It is the standard token").waitFor();
  });
});

describe("people, blocks and groups", () => {
  test("a person is made, and may speak", async () => {
    const { platform, page } = await openState();
    const people = card(page, /^People/);
    await people.getByLabel("Username").fill("cleo");
    await people.getByLabel("Username").press("Enter");
    await people.getByText("@cleo").waitFor();
    expect(platform.control.people.map(({ username }) => username)).toContain("cleo");
    await people.getByLabel("Username").fill("cleo");
    await people.getByLabel("Username").press("Enter");
    await page.getByRole("alert").getByText("cleo").waitFor();
  });

  test("a block is set between any two, and lifted", async () => {
    const { platform, page } = await openState();
    const blocks = card(page, /^Blocks/);
    await blocks.getByLabel("Who blocks").selectOption("@bot");
    await blocks.getByLabel("Who is blocked").selectOption("@ben");
    await blocks.getByRole("button", { name: "Block", exact: true }).click();
    await blocks.getByText("Blocks (1)").waitFor();
    expect(platform.control.blocks).toEqual([{ by: "bot", whom: "ben" }]);
    await blocks.getByRole("button", { name: "Lift the block of @ben by @bot" }).click();
    await blocks.getByText("Blocks (0)").waitFor();
    expect(platform.control.blocks).toEqual([]);
    await eventually(() => blocks.getByRole("heading").evaluate(isFocused), true);
  });

  test("a group is made of its members, and can be opened", async () => {
    const { platform, page } = await openState();
    const groups = card(page, "Groups");
    await groups.getByLabel("Members").fill("ada, @ben");
    await groups.getByLabel("First message").fill("all here?");
    await groups.getByRole("button", { name: "Make group" }).click();
    const link = groups.getByRole("link", { name: /^Open c_\d+ in Chat$/ });
    const id = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
    expect(platform.control.messages(id).map(({ text }) => text)).toEqual(["all here?"]);
  });
});

describe("the whole state", () => {
  test("a snapshot is taken by key, restored, downloaded and removed", async () => {
    const { platform, page } = await openState();
    const snapshots = card(page, /^Snapshots/);
    await page.keyboard.press("t");
    await snapshots.getByText("Snapshots (1)").waitFor();
    await snapshots.getByLabel("Name of the snapshot").fill("before");
    await snapshots.getByRole("button", { name: "Take a snapshot" }).click();
    await snapshots.getByText("before", { exact: true }).waitFor();
    await request(platform, "POST", "/control/v1/people", { body: { username: "cleo" } });
    await card(page, /^People/)
      .getByText("@cleo")
      .waitFor();
    await snapshots.getByRole("button", { name: "Restore before" }).click();
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await card(page, /^People/)
      .getByText("@cleo")
      .waitFor({ state: "detached" });
    const download = page.waitForEvent("download");
    await snapshots.getByRole("button", { name: "Download before" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^service-bot-before-.*\.db$/);
    expect((await readFile(await file.path())).subarray(0, 15).toString()).toBe("SQLite format 3");
    await snapshots.getByLabel("Upload a file").setInputFiles(await file.path());
    await snapshots.getByText("Snapshots (3)").waitFor();
    await snapshots.getByRole("button", { name: "Remove before" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await snapshots.getByText("Snapshots (2)").waitFor();
    await eventually(() => snapshots.getByRole("heading").evaluate(isFocused), true);
  });

  test("a reset is confirmed, and begins anew", async () => {
    const { platform, page } = await openState();
    await request(platform, "POST", "/control/v1/people", { body: { username: "cleo" } });
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await card(page, /^People/)
      .getByText("@cleo")
      .waitFor();
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByRole("button", { name: "Reset", exact: true }).click();
    await card(page, /^People/)
      .getByText("@cleo")
      .waitFor({ state: "detached" });
    expect(platform.control.people).toHaveLength(2);
  });

  test("it is exported as JSON, and imported elsewhere", async () => {
    const { platform, page } = await openState();
    await request(platform, "POST", "/control/v1/people", { body: { username: "cleo" } });
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const path = await (await download).path();
    const other = await openState();
    await other.page.getByLabel("Import").setInputFiles(path);
    await other.page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
    await card(other.page, /^People/)
      .getByText("@cleo")
      .waitFor();
  });

  test("a file that is no state is refused, and changes nothing", async () => {
    const { platform, page } = await openState();
    const file = { name: "notes.json", mimeType: "application/json", buffer: Buffer.from("{}") };
    await page.getByLabel("Import").setInputFiles(file);
    await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
    await page.getByRole("alert").getByRole("paragraph").waitFor();
    expect(platform.control.people).toHaveLength(2);
  });
});

test.each(["light", "dark"] as const)("axe finds nothing on it, %s", async (colorScheme) => {
  const { platform } = await openPortal();
  platform.control.apps.create({ username: "helper" });
  platform.control.setBlock({ by: "ada" });
  platform.control.snapshots.take("before");
  const page = await openPage(platform, "#/state", { colorScheme });
  await page.getByText("Blocks (1)").waitFor();
  await page.getByText("Snapshots (1)").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Restore before" }).click();
  expect(await violationsOf(page)).toEqual([]);
});
