import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

const picture = fileURLToPath(new URL("../../../src/platform/acts/sample.png", import.meta.url));

/** The bot's first post. */
const welcome = (page: Page) => page.locator("#post-p_1");

const open = (register: (bot: Bot) => void = () => {}) => openPosts(register);

async function openPosts(register: (bot: Bot) => void) {
  const { platform } = await openPortal({ register });
  const page = await openPage(platform, "#/posts");
  await welcome(page).waitFor();
  return { platform, page };
}

test("a post says which events it made, or why it made none", async () => {
  const { page } = await open();
  await page.keyboard.press("n");
  await page.keyboard.type("<b>good morning</b>");
  await page.keyboard.press("Enter");
  await page.getByText("@ada posted. No event: it mentions no bot.").waitFor();
  await page.getByRole("article").first().getByText("<b>good morning</b>").waitFor();
  await page.keyboard.type("and what does @bot say?");
  await page.keyboard.press("Enter");
  const link = page.getByRole("status").getByRole("link", { name: /^evt_/ });
  expect(await link.getAttribute("href")).toMatch(/^#\/events\/evt_\d+$/);
});

test("a post has its images, its author, and the label of a bot", async () => {
  const { page } = await open();
  await page.getByLabel("Images", { exact: true }).setInputFiles(picture);
  await page.getByRole("button", { name: "Post", exact: true }).click();
  const post = page.getByRole("article").first();
  await post.getByRole("button", { name: "Open image of @ada" }).click();
  await page.getByRole("dialog", { name: "Image of @ada" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await post.getByText("bot", { exact: true }).count()).toBe(0);
  expect(await welcome(page).getByText("bot", { exact: true }).count()).toBe(1);
});

test("like, repost and follow are counted, and each names its event", async () => {
  const { page } = await open();
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
});

test("a quote shows what it quotes", async () => {
  const { page } = await open();
  await welcome(page).focus();
  await page.keyboard.press("q");
  await page.keyboard.type("well said");
  await page.keyboard.press("Enter");
  const quote = page.getByRole("article").filter({ hasText: "well said" });
  await quote.getByRole("blockquote", { name: "Quoted post" }).getByText("Hello").waitFor();
  expect(await page.evaluate("document.activeElement.id")).toBe("post-p_1");
  await page.goto(`${page.url()}/p_2`);
  await page.getByRole("blockquote").getByText("Hello").waitFor();
});

test("the bot is mentioned in a comment; its answer is replied to and liked", async () => {
  const { page } = await open((bot) => bot.on("mention", (ctx) => ctx.reply("You called?")));
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
  await welcome(page)
    .getByRole("status")
    .getByText(/@ada liked it\. like evt_/)
    .waitFor();
  await welcome(page).getByRole("button", { name: "Comments 3" }).waitFor();
});

test("Escape gives up what is being written, and the post has the focus again", async () => {
  const { page } = await open();
  await welcome(page).focus();
  await page.keyboard.press("c");
  await page.keyboard.type("never mind");
  await page.keyboard.press("Escape");
  await eventually(() => welcome(page).getByRole("textbox").count(), 0);
  expect(await page.evaluate("document.activeElement.id")).toBe("post-p_1");
});

test("what is done to a person's post says that it made no event, and why", async () => {
  const { page, platform } = await open();
  platform.control.act({ type: "post", from: "ben", text: "lunch?" });
  await page.reload();
  const post = page.getByRole("article").filter({ hasText: "lunch?" });
  await post.getByRole("button", { name: /^Like/ }).click();
  await post.getByText("No event: what was liked is of a person.").waitFor();
});

test("the feed goes on by pages, and j and k go from post to post", async () => {
  const { page, platform } = await open();
  platform.control.act({ type: "post", from: "ben", text: "another", count: 30 });
  await page.reload();
  await eventually(() => page.getByRole("article").count(), 20);
  await page.getByRole("button", { name: "More posts" }).click();
  await eventually(() => page.getByRole("article").count(), 31);
  const focused = () => page.evaluate("document.activeElement.id");
  for (const key of ["j", "j", "k"]) await page.keyboard.press(key);
  expect(await focused()).toBe("post-p_31");
});

test("a post that the bot makes is there at once", async () => {
  const { page } = await open((bot) => {
    bot.on("follow", async (ctx) => {
      await ctx.client.posts.create({ text: "I have a follower" });
    });
  });
  await page.getByRole("button", { name: "Follow @bot as @ada" }).click();
  await page.getByRole("article").first().getByText("I have a follower").waitFor();
});
