import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Download, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { request } from "../support/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const card = (page: Page, name: RegExp | string) => page.getByRole("region", { name });
const isFocused = (element: Element) => element === document.activeElement;
const cleo = (page: Page) => card(page, /^People/).getByText("@cleo");

test("bots, tokens, people, blocks and groups are made and taken away", async () => {
  const { platform, page } = await openPortal({ address: "#/state" });
  await makePerson(platform, page);
  await blockAndLift(platform, page);
  await makeGroup(platform, page);
  await issueAndRevoke(platform, page);
  await makeBot(platform, page);
});

async function makePerson(platform: Platform, page: Page): Promise<void> {
  const username = card(page, /^People/).getByLabel("Username");
  await username.fill("cleo");
  await username.press("Enter");
  await cleo(page).waitFor();
  expect(platform.control.people.map((person) => person.username)).toContain("cleo");
  await username.fill("cleo");
  await username.press("Enter");
  await page.getByRole("alert").getByText("cleo").waitFor();
  await page.getByRole("button", { name: "Close this message" }).first().click();
}

async function blockAndLift(platform: Platform, page: Page): Promise<void> {
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
}

async function makeGroup(platform: Platform, page: Page): Promise<void> {
  const groups = card(page, "Groups");
  await groups.getByLabel("Members").fill("ada, @ben");
  await groups.getByLabel("First message").fill("all here?");
  await groups.getByRole("button", { name: "Make group" }).click();
  const link = groups.getByRole("link", { name: /^Open c_\d+ in Chat$/ });
  const id = (await link.getAttribute("href"))?.split("/").at(-1) ?? "";
  expect(platform.control.messages(id).map(({ text }) => text)).toEqual(["all here?"]);
}

/** A token has the scopes that are checked and is shown once. The standard one is not revoked without a warning. */
async function issueAndRevoke(platform: Platform, page: Page): Promise<void> {
  const tokens = card(page, "Tokens of @bot");
  await tokens.getByText("standard", { exact: true }).waitFor();
  await tokens.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("It is the standard token").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
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
}

/** Its secrets are shown once, and it can be looked at and disabled. */
async function makeBot(platform: Platform, page: Page): Promise<void> {
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
}

test("the whole state is kept in snapshots and files, restored and reset", async () => {
  const { platform, page } = await openPortal({ address: "#/state" });
  await takeAndRestore(platform, page);
  await downloadAndUpload(page);
  await resetAndRefuse(platform, page);
});

async function takeAndRestore(platform: Platform, page: Page): Promise<void> {
  const snapshots = card(page, /^Snapshots/);
  await snapshots.waitFor();
  await page.keyboard.press("t");
  await snapshots.getByText("Snapshots (1)").waitFor();
  await snapshots.getByLabel("Name of the snapshot").fill("before");
  await snapshots.getByRole("button", { name: "Take a snapshot" }).click();
  await snapshots.getByText("before", { exact: true }).waitFor();
  await makeCleo(platform, page);
  await snapshots.getByRole("button", { name: "Restore before" }).click();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await cleo(page).waitFor({ state: "detached" });
}

async function makeCleo(platform: Platform, page: Page): Promise<void> {
  await request(platform, "POST", "/control/v1/people", { body: { username: "cleo" } });
  await cleo(page).waitFor();
}

async function downloadAndUpload(page: Page): Promise<void> {
  const snapshots = card(page, /^Snapshots/);
  const download = page.waitForEvent("download");
  await snapshots.getByRole("button", { name: "Download before" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^service-bot-before-.*\.db$/);
  const path = await save(file);
  expect((await readFile(path)).subarray(0, 15).toString()).toBe("SQLite format 3");
  await snapshots.getByLabel("Upload a file").setInputFiles(path);
  await snapshots.getByText("Snapshots (3)").waitFor();
  await snapshots.getByRole("button", { name: "Remove before" }).click();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await snapshots.getByText("Snapshots (2)").waitFor();
  await eventually(() => snapshots.getByRole("heading").evaluate(isFocused), true);
}

async function save(file: Download): Promise<string> {
  const path = join(temporaryFolder(), file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

/** A reset is confirmed. A file that is no state is refused, and changes nothing. */
async function resetAndRefuse(platform: Platform, page: Page): Promise<void> {
  await makeCleo(platform, page);
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await cleo(page).waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await cleo(page).waitFor({ state: "detached" });
  expect(platform.control.people).toHaveLength(2);

  const notes = { name: "notes.db", mimeType: "text/plain", buffer: Buffer.from("{}") };
  await card(page, /^Snapshots/)
    .getByLabel("Upload a file")
    .setInputFiles(notes);
  await page.getByRole("alert").getByRole("paragraph").waitFor();
  expect(platform.control.people).toHaveLength(2);
  expect(platform.control.snapshots.list()).toHaveLength(2);
}
