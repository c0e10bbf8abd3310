import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import { SAMPLE_PICTURE } from "../../faces/files.ts";
import { eventually, openPortal } from "./support/page.ts";

/** The bot's first post. */
const welcome = (page: Page) => page.locator("#post-p_1");
const focusedId = (page: Page) => page.evaluate("document.activeElement.id");

test("a person posts, reacts and comments, and each act says which events it made, or why none", async () => {
  const { page, platform } = await openPortal({ register: takePart, address: "#/posts" });
  await welcome(page).waitFor();
  await post(page);
  await postWithImage(page);
  await react(page);
  await quote(page);
  await mentionTheBot(page);
  await giveUp(page);

  platform.control.act({ type: "post", from: "ben", text: "lunch?" });
  await page.reload();
  const lunch = page.getByRole("article").filter({ hasText: "lunch?" });
  await lunch.getByRole("button", { name: /^Like/ }).click();
  await lunch.getByText("No event: what was liked is of a person.").waitFor();

  platform.control.act({ type: "post", from: "ben", text: "another", count: 30 });
  await readTheFeed(page);
});

function takePart(bot: Bot): void {
  bot.on("mention", async (ctx) => {
    if (ctx.payload.entityType === "comment") await ctx.reply("You called?");
  });
  bot.on("follow", async (ctx) => {
    await ctx.client.posts.create({ text: "I have a follower" });
  });
}

async function post(page: Page): Promise<void> {
  await page.keyboard.press("n");
  await page.keyboard.type("<b>good morning</b>");
  await page.keyboard.press("Enter");
  await page.getByText("@ada posted. No event: it mentions no bot.").waitFor();
  await page.getByRole("article").first().getByText("<b>good morning</b>").waitFor();
  await page.keyboard.type("and what does @bot say?");
  await page.keyboard.press("Enter");
  const link = page.getByRole("status").getByRole("link", { name: /^evt_/ });
  expect(await link.getAttribute("href")).toMatch(/^#\/events\/evt_\d+$/);
}

async function postWithImage(page: Page): Promise<void> {
  await page.getByLabel("Images", { exact: true }).setInputFiles(SAMPLE_PICTURE);
  await page.getByRole("button", { name: "Post", exact: true }).click();
  const newest = page.getByRole("article").first();
  await newest.getByRole("button", { name: "Open image of @ada" }).click();
  await page.getByRole("dialog", { name: "Image of @ada" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await newest.getByText("bot", { exact: true }).count()).toBe(0);
  expect(await welcome(page).getByText("bot", { exact: true }).count()).toBe(1);
}

/** Posts of the bot appear at once. */
async function react(page: Page): Promise<void> {
  const said = welcome(page).getByRole("status");
  await welcome(page).getByRole("button", { name: "Like 0" }).click();
  await said.getByText(/@ada liked it\. like evt_/).waitFor();
  await welcome(page).getByRole("button", { name: "Like 1" }).waitFor();
  await welcome(page).focus();
  await page.keyboard.press("x");
  await said.getByText(/@ada reposted it\. repost evt_/).waitFor();
  await welcome(page).getByRole("button", { name: "Repost 1" }).waitFor();
  await page.getByRole("button", { name: "Follow @bot as @ada" }).click();
  await page.getByText(/@ada follows the bot\. follow evt_/).waitFor();
  await page.getByRole("article").first().getByText("I have a follower").waitFor();
}

async function quote(page: Page): Promise<void> {
  await welcome(page).focus();
  await page.keyboard.press("q");
  await page.keyboard.type("well said");
  await page.keyboard.press("Enter");
  const quoting = page.getByRole("article").filter({ hasText: "well said" });
  const quoted = quoting.getByRole("blockquote", { name: "Quoted post" });
  await quoted.getByText("Hello").waitFor();
  expect(await focusedId(page)).toBe("post-p_1");
  // By its address, too.
  const id = (await quoting.getAttribute("id"))?.replace("post-", "") ?? "";
  const feed = page.url();
  await page.goto(`${feed}/${id}`);
  await quoted.getByText("Hello").waitFor();
  await page.goto(feed);
  await welcome(page).waitFor();
}

async function mentionTheBot(page: Page): Promise<void> {
  await welcome(page).getByRole("button", { name: "Mention @bot" }).click();
  await page.keyboard.type("are you there?");
  await page.keyboard.press("Enter");
  const comments = welcome(page).getByRole("region", { name: "Comments on p_1" });
  await comments.getByText("@bot are you there?").waitFor();
  await comments.getByText("You called?").waitFor();
  await comments.getByRole("button", { name: /^Reply to \S+ of @bot$/ }).click();
  await page.keyboard.type("I did");
  await page.keyboard.press("Enter");
  await comments.getByText("I did").waitFor();
  await comments.getByRole("button", { name: /^Like \S+ of @bot$/ }).click();
  const said = welcome(page).getByRole("status");
  await said.getByText(/@ada liked it\. like evt_/).waitFor();
  await welcome(page).getByRole("button", { name: "Comments 3" }).waitFor();
}

/** Escape gives up what is being written, and the post has the focus again. */
async function giveUp(page: Page): Promise<void> {
  await welcome(page).focus();
  await page.keyboard.press("c");
  await page.keyboard.type("never mind");
  await page.keyboard.press("Escape");
  await eventually(() => welcome(page).getByRole("textbox").count(), 0);
  expect(await focusedId(page)).toBe("post-p_1");
}

/** The feed goes on by pages, and j and k go from post to post. */
async function readTheFeed(page: Page): Promise<void> {
  await page.reload();
  const posts = page.getByRole("article");
  await eventually(() => posts.count(), 20);
  await page.getByRole("button", { name: "More posts" }).click();
  await eventually(async () => (await posts.count()) > 30, true);
  for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
  expect(await focusedId(page)).toBe(await posts.first().getAttribute("id"));
}
