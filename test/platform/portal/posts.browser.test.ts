import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import { SAMPLE_PICTURE } from "../../faces/files.ts";
import { eventually, openPortal } from "./support/page.ts";

const welcome = (page: Page) => page.locator("#post-p_1");

test("a user posts, reacts, comments and mentions the bot, whose reply appears below the post", async () => {
  const { page, platform } = await openPortal({ register: takePart, address: "#/chat/posts" });
  await welcome(page).waitFor();
  await post(page);
  await react(page);
  await quote(page);
  await mentionTheBot(page);
  platform.control.act({ type: "post", from: "ben", text: "another", count: 30 });
  await page.reload();
  const posts = page.getByRole("article", { name: /^Post by/ });
  await eventually(() => posts.count(), 20);
  await page.getByRole("button", { name: "Show older" }).click();
  await eventually(async () => (await posts.count()) > 30, true);
});

function takePart(bot: Bot): void {
  bot.on("mention", async (ctx) => {
    if (ctx.payload.entityType === "comment") await ctx.reply("You called?");
  });
  bot.on("follow", async (ctx) => {
    await ctx.client.posts.create({ text: "I have a follower" });
  });
}

const effects = (page: Page) => page.getByRole("region", { name: "Activity" });
const newest = (page: Page) => page.getByRole("article", { name: /^Post by/ }).first();

async function post(page: Page): Promise<void> {
  await page.keyboard.press("n");
  await page.keyboard.type("<b>good morning</b>");
  await page.keyboard.press("Enter");
  await page.getByText("No event was created, because the action does not affect a bot.").waitFor();
  await newest(page).getByText("<b>good morning</b>").waitFor();
  await page.keyboard.type("and what does @bot say?");
  await page.keyboard.press("Enter");
  await effects(page).getByText("mentioned the bot: “and what does @bot say?”").waitFor();
  await page.getByLabel("Images", { exact: true }).setInputFiles(SAMPLE_PICTURE);
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await newest(page).getByRole("button", { name: "Open image by @ada" }).click();
  await page.getByRole("dialog", { name: "Image by @ada" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await newest(page).getByText("bot", { exact: true }).count()).toBe(0);
  expect(await welcome(page).getByText("bot", { exact: true }).count()).toBe(1);
}

async function react(page: Page): Promise<void> {
  await welcome(page).getByRole("button", { name: "Like 0" }).click();
  await welcome(page).getByRole("button", { name: "Like 1" }).waitFor();
  await effects(page).getByText("liked it").waitFor();
  await welcome(page).getByRole("button", { name: "Repost 0" }).click();
  await welcome(page).getByRole("button", { name: "Repost 1" }).waitFor();
  await page.getByRole("button", { name: "Follow @bot" }).click();
  await newest(page).getByText("I have a follower").waitFor();
}

async function quote(page: Page): Promise<void> {
  await welcome(page).getByRole("button", { name: "Quote 0" }).click();
  await page.keyboard.type("well said");
  await page.keyboard.press("Enter");
  const quoting = page.getByRole("article").filter({ hasText: "well said" }).first();
  const quoted = quoting.getByRole("blockquote", { name: "Quoted post" });
  await quoted.getByText("Hello").waitFor();
  const id = (await quoting.getAttribute("id"))?.replace("post-", "") ?? "";
  await page.goto(`${page.url().replace("posts", id)}`);
  await quoted.getByText("Hello").waitFor();
  await page.getByRole("link", { name: "All posts" }).click();
  await welcome(page).waitFor();
}

async function mentionTheBot(page: Page): Promise<void> {
  await welcome(page).getByRole("button", { name: "Comment 0" }).click();
  await page.keyboard.type("@bot are you there?");
  await page.keyboard.press("Enter");
  await welcome(page).getByText("@bot are you there?").waitFor();
  await welcome(page).getByText("You called?").waitFor();
  await welcome(page)
    .getByRole("button", { name: /^Reply to comment \S+ by @bot$/ })
    .click();
  await page.keyboard.type("I did");
  await page.keyboard.press("Enter");
  await welcome(page).getByText("I did").waitFor();
  await welcome(page)
    .getByRole("button", { name: /^Like comment \S+ by @bot$/ })
    .click();
  await welcome(page).getByRole("button", { name: "Comment 3" }).click();
  await page.keyboard.type("never mind");
  await page.keyboard.press("Escape");
  await eventually(() => welcome(page).getByRole("textbox").count(), 0);
}
