import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Download, Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { request } from "../support/platform.ts";
import { eventually, openPortal } from "./support/page.ts";

const card = (page: Page, name: RegExp | string) => page.getByRole("region", { name });
const cleo = (page: Page) => card(page, "People").getByText("@cleo");

test("bots, tokens, blocks, groups and limits are created and removed", async () => {
  const { platform, page } = await openPortal({ address: "#/settings" });
  await actAsCleo(page);
  await blockAndLift(platform, page);
  await issueAndRevoke(platform, page);
  await makeBot(platform, page);
  await setLimit(platform, page);
  await moveClock(platform, page);
  await makeGroup(platform, page);
});

async function actAsCleo(page: Page): Promise<void> {
  const people = card(page, "People");
  await people.getByLabel("Username").fill("@Cleo");
  await people.getByLabel("Name", { exact: true }).fill("Cleo K");
  await people.getByRole("button", { name: "Create person" }).click();
  await people.getByRole("listitem").filter({ hasText: "Cleo K" }).waitFor();
  expect(await people.getByLabel("Username").inputValue()).toBe("");
  const actor = page.getByRole("banner").getByLabel("You are");
  await people.getByRole("button", { name: "Act as @cleo" }).click();
  await eventually(() => actor.inputValue(), "cleo");
  await actor.selectOption("ada");
}

async function blockAndLift(platform: Platform, page: Page): Promise<void> {
  await page.getByText("More: blocks and groups").click();
  const blocks = card(page, "Blocks");
  await blocks.getByLabel("Who blocks").selectOption("@bot");
  await blocks.getByLabel("Who is blocked").selectOption("@ben");
  await blocks.getByRole("button", { name: "Block", exact: true }).click();
  await blocks.getByText("@bot blocks @ben").waitFor();
  expect(platform.control.blocks).toEqual([{ by: "bot", whom: "ben" }]);
  await blocks.getByRole("button", { name: "Unblock @ben for @bot" }).click();
  await eventually(async () => platform.control.blocks, []);
}

async function makeGroup(platform: Platform, page: Page): Promise<void> {
  const groups = card(page, "Groups");
  await groups.getByLabel("Members").fill("ada, @ben");
  await groups.getByLabel("First message").fill("all here?");
  await groups.getByRole("button", { name: "Create group" }).click();
  await page.waitForURL(/#\/chat\/c_\d+$/);
  const id = page.url().split("/").at(-1) ?? "";
  expect(platform.control.messages(id).map(({ text }) => text)).toEqual(["all here?"]);
}

/** A token has the checked scopes and is shown only once. Revoking the standard token shows a warning. */
async function issueAndRevoke(platform: Platform, page: Page): Promise<void> {
  const tokens = card(page, "@bot's tokens");
  await tokens.getByText("standard", { exact: true }).waitFor();
  await tokens.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByText("The platform printed this token").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await tokens.getByRole("checkbox", { name: "read", exact: false }).first().uncheck();
  await tokens.getByRole("checkbox", { name: "comments:write" }).uncheck();
  await tokens.getByRole("button", { name: "Create token" }).click();
  const shown = page.getByRole("dialog", { name: "New token for @bot" });
  await shown.getByText("posts:write, dm").waitFor();
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  const [, made] = platform.control.apps.tokens();
  expect(made?.scopes).toEqual(["posts:write", "dm"]);
  await tokens.getByRole("button", { name: `that ends in ${made?.lastFour}` }).click();
  await page.getByText("Requests with this token get 401.").waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await eventually(async () => platform.control.apps.tokens().length, 1);
}

/** The bot's secrets are shown only once. The bot can be viewed and disabled. */
async function makeBot(platform: Platform, page: Page): Promise<void> {
  const bots = card(page, "Bots");
  await bots.getByLabel("Username").fill("@Helper");
  await bots.getByLabel("Name", { exact: true }).fill("The Helper");
  await bots.getByRole("button", { name: "Create bot" }).click();
  const shown = page.getByRole("dialog", { name: "Created @helper" });
  const lines = (await shown.getByLabel("Lines for the bot's .env").textContent()) ?? "";
  expect(lines.split("\n")).toEqual([
    `SERVICE_BASE_URL=${platform.url}`,
    expect.stringMatching(/^SERVICE_API_KEY=sbk_/),
    expect.stringMatching(/^SERVICE_WEBHOOK_SECRET=whsec_/),
  ]);
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  await bots.getByRole("button", { name: "Show @helper" }).click();
  await card(page, "@helper's tokens").waitFor();
  await bots.getByRole("button", { name: "Disable @helper's app" }).click();
  await bots.getByText("disabled", { exact: true }).waitFor();
  expect(platform.control.apps.list().map(({ disabled }) => disabled)).toEqual([false, true]);
}

/** The browser rejects a negative number. The other limits are saved together. */
async function setLimit(platform: Platform, page: Page): Promise<void> {
  const form = page.getByRole("form", { name: "Limits" });
  const limit = form.getByLabel("Direct messages per day", { exact: true });
  const save = form.getByRole("button", { name: "Save limits" });
  await limit.fill("-1");
  await save.click();
  expect(await limit.evaluate((input) => input.matches(":invalid"))).toBe(true);
  await limit.fill("2");
  await save.click();
  await form.getByText("0 of 2 used").waitFor();
  expect(platform.control.limits.dmsPerDay.limit).toBe(2);
  await limit.fill("");
  await save.click();
  await form.getByText("0 of 2 used").waitFor({ state: "detached" });
  expect(platform.control.limits.dmsPerDay.limit).toBeNull();
}

async function moveClock(platform: Platform, page: Page): Promise<void> {
  const clock = card(page, "Clock");
  const time = clock.locator("time");
  const before = await time.textContent();
  await eventually(async () => (await time.textContent()) === before, false);
  await clock.getByRole("button", { name: "Advance the clock by 5 min" }).click();
  await page.getByText(/clock is 5 min( \d s)? ahead/).waitFor();
  await clock.getByRole("button", { name: "Advance the clock by 1 h" }).click();
  await clock.getByText("rejects deliveries").waitFor();
  await clock.getByRole("button", { name: "Freeze" }).click();
  await clock.getByRole("button", { name: "Start" }).waitFor();
  await clock.getByLabel("Set to (UTC)").fill("2030-01-31T23:59:00");
  await clock.getByRole("button", { name: "Set", exact: true }).click();
  await clock.getByText("2030-01-31 23:59:00 UTC").waitFor();
  await clock.getByRole("button", { name: "Reset" }).click();
  await clock.getByRole("button", { name: "Freeze" }).waitFor();
  const { frozen, offsetMs } = platform.control.clock.view;
  expect(frozen).toBe(false);
  expect(Math.abs(offsetMs)).toBeLessThan(1_000);
}

test("the whole state is saved in snapshots and files, restored and reset", async () => {
  const { platform, page } = await openPortal({ address: "#/settings" });
  await takeAndRestore(platform, page);
  await downloadAndUpload(page);
  await resetAndRefuse(platform, page);
});

async function takeAndRestore(platform: Platform, page: Page): Promise<void> {
  const snapshots = card(page, "Snapshots");
  await snapshots.waitFor();
  await snapshots.getByLabel("Name").fill("before");
  await snapshots.getByRole("button", { name: "Take snapshot" }).click();
  await snapshots.getByText("before", { exact: true }).waitFor();
  await makeCleo(platform, page);
  await snapshots.getByRole("button", { name: "Restore before" }).click();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await cleo(page).waitFor({ state: "detached" });
}

async function makeCleo(platform: Platform, page: Page): Promise<void> {
  await request(platform, "POST", "/control/v1/people", { body: { username: "cleo" } });
  await cleo(page).waitFor({ state: "attached" });
}

async function downloadAndUpload(page: Page): Promise<void> {
  const snapshots = card(page, "Snapshots");
  const download = page.waitForEvent("download");
  await snapshots.getByRole("button", { name: "Download before" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^service-bot-before-.*\.db$/);
  const path = await save(file);
  expect((await readFile(path)).subarray(0, 15).toString()).toBe("SQLite format 3");
  await snapshots.getByLabel("Upload a snapshot").setInputFiles(path);
  await eventually(() => snapshots.getByRole("listitem").count(), 2);
  await snapshots.getByRole("button", { name: "Delete before", exact: true }).click();
  await eventually(() => snapshots.getByRole("listitem").count(), 1);
}

async function save(file: Download): Promise<string> {
  const path = join(temporaryFolder(), file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

/** A reset asks for confirmation. A file that is not a state file is rejected and changes nothing. */
async function resetAndRefuse(platform: Platform, page: Page): Promise<void> {
  await makeCleo(platform, page);
  await page.getByRole("button", { name: "Reset platform" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await cleo(page).waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Reset platform" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset", exact: true }).click();
  await cleo(page).waitFor({ state: "detached" });
  expect(platform.control.people).toHaveLength(2);

  const notes = { name: "notes.db", mimeType: "text/plain", buffer: Buffer.from("{}") };
  await card(page, "Snapshots").getByLabel("Upload a snapshot").setInputFiles(notes);
  await page.getByRole("alert").getByRole("paragraph").waitFor();
  expect(platform.control.people).toHaveLength(2);
  expect(platform.control.snapshots.list()).toHaveLength(1);
}
