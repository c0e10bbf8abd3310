import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Bot } from "../../../src/index.ts";
import { SAMPLE_PICTURE } from "../../faces/files.ts";
import type { Platform } from "../../faces/platform.ts";
import { eventually, openPage, openPortal } from "./support/page.ts";

const picture = readFileSync(SAMPLE_PICTURE).toString("base64");

const logOf = (page: Page) => page.getByRole("log");
const fieldOf = (page: Page) => page.getByRole("textbox", { name: /^Message to @bot/ });
const fieldOfPerson = (page: Page, person: string) =>
  page.getByRole("textbox", { name: `Message to @bot as @${person}` });

const focused = (page: Page) => () =>
  page.evaluate("document.activeElement.getAttribute('aria-label')");

test("a user talks to the bot: writes, follows the event, deletes a message, and writes as another user", async () => {
  const { page, platform } = await openPortal({ register: answerAllButQuiet });
  await writeByKeyboard(page, platform);
  await typeAfterSending(page, platform);
  await followAnEventWithoutAnswer(page, platform);
  await keepWhatWasRefused(page);
  await deleteAMessage(page);
  await speakAsNewPerson(page);
});

function answerAllButQuiet(bot: Bot): void {
  bot.on("dm.message", async (ctx) => {
    if (!ctx.payload.excerpt.startsWith("quiet"))
      await ctx.reply(`Hello ${ctx.payload.from.name}!`);
  });
}

async function writeByKeyboard(page: Page, platform: Platform): Promise<void> {
  await fieldOfPerson(page, "ada").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("hello");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("bot");
  await page.keyboard.press("Enter");
  await logOf(page).getByText("Hello Ada!").waitFor();
  expect(await logOf(page).getByText("hello\nbot").count()).toBe(1);
  expect(await focused(page)()).toBe("Message to @bot as @ada");
  for (const text of ["one", "two", "three"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  }
  await eventually(async () => {
    const [talk] = platform.control.conversations({}).items;
    const all = platform.control.messages(talk?.id ?? "");
    return all.filter(({ fromBot }) => !fromBot).map(({ text }) => text);
  }, ["hello\nbot", "one", "two", "three"]);
  await eventually(() => logOf(page).getByText("Hello Ada!", { exact: true }).count(), 4);
}

/** After a click on Send, letters are typed as text and do not trigger shortcuts. */
async function typeAfterSending(page: Page, platform: Platform): Promise<void> {
  await fieldOf(page).fill("hello");
  await page.getByRole("button", { name: "Send" }).click();
  await page.keyboard.type("flw");
  expect(await fieldOf(page).inputValue()).toBe("flw");
  expect(platform.control.faults.webhook.mode).toBe("none");
  expect(platform.control.webhook.enabled).toBe(true);
}

async function followAnEventWithoutAnswer(page: Page, platform: Platform): Promise<void> {
  platform.control.setFaults({ webhook: { mode: "status", status: 503 } });
  await fieldOf(page).fill("quiet, anybody?");
  await page.keyboard.press("Enter");
  const state = page.locator(".outcome").last();
  await state.getByText("Delivery failed").waitFor();
  platform.control.setFaults({ webhook: { mode: "none" } });
  await state.getByText(/Handled/).waitFor();
  const effects = page.getByRole("region", { name: "Activity" });
  await effects.getByText("“quiet, anybody?”").waitFor();
  await effects.getByRole("button", { name: /Delivery attempt 1 .*503/ }).waitFor();
  await effects
    .getByRole("listitem")
    .filter({ hasText: /Run.*attempt 1.*handled/ })
    .last()
    .waitFor();
  platform.control.saveWebhook({ enabled: false });
  await fieldOf(page).fill("quiet, and now?");
  await page.keyboard.press("Enter");
  await state.getByText("Webhook off: the bot will read it by polling").waitFor();
  await page.getByRole("button", { name: "Turn on" }).click();
  await eventually(async () => platform.control.webhook.enabled, true);
}

async function keepWhatWasRefused(page: Page): Promise<void> {
  const tooLong = "x".repeat(4_001);
  await fieldOf(page).fill(tooLong);
  await page.keyboard.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/4,?000/)
    .waitFor();
  expect(await fieldOf(page).inputValue()).toBe(tooLong);
  await page.getByRole("button", { name: "Close this message" }).first().click();
  await fieldOf(page).fill("");
}

/** A deleted message keeps its position and the focus. */
async function deleteAMessage(page: Page): Promise<void> {
  const articles = logOf(page).getByRole("article");
  for (const text of ["quiet oops", "quiet fine"]) {
    await fieldOf(page).fill(text);
    await fieldOf(page).press("Enter");
    await logOf(page).getByText(text).waitFor();
  }
  const count = await articles.count();
  await articles.last().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Delete");
  await logOf(page).getByText("deleted", { exact: true }).waitFor();
  expect(await logOf(page).getByText("quiet oops").count()).toBe(0);
  expect(await articles.count()).toBe(count);
  expect(await page.evaluate("document.activeElement.dataset.item")).toMatch(/^m_/);
}

async function speakAsNewPerson(page: Page): Promise<void> {
  await page.keyboard.press("p");
  const dialog = page.getByRole("dialog", { name: "New person" });
  await dialog.getByLabel("Username").fill("-no-");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("must be a username").waitFor();
  await dialog.getByLabel("Username").fill("cleo");
  await dialog.getByLabel("Name", { exact: true }).fill("<b>Cléo</b>");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await eventually(focused(page), "Message to @bot as @cleo");
  await page.keyboard.type("hi");
  await page.keyboard.press("Enter");
  await logOf(page).getByText("Hello <b>Cléo</b>!").waitFor();
}

test("images are chosen, pasted and dropped, sent, and opened in full size, even under another host name", async () => {
  const { page, platform } = await openPortal();
  await page.getByLabel("Images", { exact: true }).setInputFiles([
    { name: "<i>one</i>.png", mimeType: "image/png", buffer: Buffer.from(picture, "base64") },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no image") },
  ]);
  await page.getByText("notes.txt: text/plain is not an allowed type.").waitFor();
  await giveFile(page, "paste", "pasted.png");
  await giveFile(page, "drop", "dropped.png");
  const chosen = page.getByRole("list", { name: "Images to send" }).getByRole("listitem");
  await eventually(() => chosen.count(), 3);
  await page.getByRole("button", { name: "Remove pasted.png" }).click();
  expect(await chosen.allInnerTexts()).toEqual([
    expect.stringContaining("<i>one</i>.png"),
    expect.stringContaining("dropped.png"),
  ]);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Open image 2 of 2 by @ada" }).click();
  await page.getByRole("dialog", { name: "Image 2 of 2 by @ada" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("dialog", { name: "Image 1 of 2 by @ada" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await chosen.count()).toBe(0);
  await giveFile(page, "paste", "alone.png");
  await fieldOf(page).press("Enter");
  await logOf(page).getByRole("button", { name: "Open image by @ada" }).waitFor();
  const [talk] = platform.control.conversations().items;
  const sent = platform.control.messages(talk?.id ?? "").filter(({ fromBot }) => !fromBot);
  expect(sent.map(({ images }) => images.length)).toEqual([2, 1]);

  const underAnother = (url: string) => url.replace("127.0.0.1", "localhost");
  const { url, portalUrl } = platform;
  const named = { url: underAnother(url), portalUrl: underAnother(portalUrl) };
  for (const window of [page, await openPage(named, "#/chat")]) {
    await eventually(() => logOf(window).locator("img").evaluateAll(areLoaded), true);
  }
});

function areLoaded(images: readonly Element[]): boolean {
  const pictures = images.filter((each) => each instanceof HTMLImageElement);
  return pictures.length >= 3 && pictures.every((each) => each.naturalWidth > 0);
}

async function giveFile(page: Page, how: "paste" | "drop", name: string): Promise<void> {
  await fieldOf(page).evaluate(
    (field, { base64, by, called }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const given = new DataTransfer();
      given.items.add(new File([bytes], called, { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      const event =
        by === "paste"
          ? new ClipboardEvent("paste", { ...options, clipboardData: given })
          : new DragEvent("drop", { ...options, dataTransfer: given });
      field.dispatchEvent(event);
    },
    { base64: picture, by: how, called: name },
  );
}

test("conversations keep their drafts, load back to their start, and fit a phone", async () => {
  const { page, platform } = await openPortal();
  await switchPersons(page, platform);
  await readOlderMessages(page, platform);
  // The user's own conversation stays in the list, even if 60 others are newer.
  for (let nth = 0; nth < 60; nth += 1) {
    platform.control.act({ type: "dm.message", from: `person${nth}` });
  }
  platform.control.createPerson({ username: "cleo", name: "Cleo" });
  await page.goto(`${platform.url}/#/chat`);
  await page.reload();
  await logOf(page).getByText("one more").waitFor();
  await fitAPhone(page);
});

const talk = (page: Page, name: string | RegExp) =>
  page.getByRole("region", { name: "Conversations" }).getByRole("link", { name });

async function switchPersons(page: Page, platform: Platform): Promise<void> {
  const { control } = platform;
  control.act({ type: "dm.message", from: "ben", text: "ben here" });
  control.createGroup({ members: ["ada", "ben", "bot"], text: "all here?" });
  await fieldOfPerson(page, "ada").fill("not sent yet");
  await talk(page, /^@ben/).click();
  await logOf(page).getByText("Hello Ben!", { exact: true }).waitFor();
  await page.keyboard.press("n");
  await eventually(focused(page), "Message to @bot as @ben");
  await page.keyboard.type("again");
  await page.keyboard.press("Enter");
  await eventually(() => logOf(page).getByText("Hello Ben!", { exact: true }).count(), 2);
  await talk(page, /all here\?/).click();
  await page.getByText("Bots cannot write to groups.").waitFor();
  await talk(page, /^@ada/).first().click();
  expect(await fieldOfPerson(page, "ada").inputValue()).toBe("not sent yet");
}

/** The visible message stays in place while older ones load above and new ones arrive below. */
async function readOlderMessages(page: Page, platform: Platform): Promise<void> {
  platform.control.saveWebhook({ enabled: false });
  await fieldOfPerson(page, "ada").fill("");
  const write = (text: string, count = 1) =>
    platform.control.act({ type: "dm.message", from: "ada", text, count });
  write("again", 120);
  const articles = logOf(page).getByRole("article");
  await eventually(() => articles.count(), 50);
  await eventually(() => distance(page), 0);
  await logOf(page).evaluate((log) => log.scrollTo(0, -log.scrollHeight));
  const first = await articles.first().getAttribute("data-item");
  const top = async () =>
    Math.round((await page.locator(`[data-item="${first}"]`).boundingBox())?.y ?? -1);
  const before = await top();
  await page.getByRole("button", { name: "Load older" }).click();
  await eventually(() => articles.count(), 100);
  expect(await top()).toBe(before);
  write("the newest");
  await page.getByRole("button", { name: "New messages" }).waitFor();
  expect(await top()).toBe(before);
  await page.getByRole("button", { name: "New messages" }).click();
  await eventually(() => distance(page), 0);
  write("one more");
  await logOf(page).getByText("one more").waitFor();
  await eventually(() => distance(page), 0);
}

function distance(page: Page): Promise<number> {
  return logOf(page).evaluate((log) => Math.abs(Math.round(log.scrollTop)));
}

/** A phone shows either the list or one conversation. */
async function fitAPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("link", { name: "Conversations" }).click();
  await talk(page, /^@cleo/).click();
  await fieldOf(page).fill("from the road");
  await page.getByRole("button", { name: "Send" }).click();
  await logOf(page).getByText("from the road").waitFor();
  expect(await talk(page, /^@cleo/).isVisible()).toBe(false);
  const activity = page.getByRole("region", { name: "Activity" });
  expect(await activity.isVisible()).toBe(false);
  await logOf(page).getByText("from the road").click();
  await activity.getByText("“from the road”").waitFor();
  expect(await logOf(page).isVisible()).toBe(false);
  await activity.getByRole("button", { name: "Back to the messages" }).click();
  await page.getByRole("button", { name: "Activity" }).click();
  await activity.getByText("“from the road”").waitFor();
  await activity.getByRole("button", { name: "Back to the messages" }).click();
  await page.getByRole("link", { name: "Conversations" }).click();
  await talk(page, /^@cleo/).waitFor();
  expect(await logOf(page).isVisible()).toBe(false);
}

test("two windows stay in sync: messages, deletions, faults and restores", async () => {
  const { platform, page: ada } = await openPortal();
  const { id: before } = platform.control.snapshots.take("before");
  const ben = await openPage(platform, "#/chat");
  await talk(ben, /^@ben/).click();
  await fieldOfPerson(ada, "ada").fill("from ada");
  await fieldOfPerson(ada, "ada").press("Enter");
  await fieldOfPerson(ben, "ben").fill("from ben");
  await fieldOfPerson(ben, "ben").press("Enter");
  await logOf(ada).getByText("Hello Ada!").waitFor();
  await logOf(ben).getByText("Hello Ben!").waitFor();
  await ben.getByRole("region", { name: "Conversations" }).getByText("Hello Ada!").waitFor();
  // A conversation never shows another conversation's messages.
  expect(await logOf(ada).getByText("Hello Ben!").count()).toBe(0);

  // The second tab is updated only by the stream's change notice, because a deletion creates no event.
  const tab = await ada.context().newPage();
  await tab.goto(`${platform.url}/#/chat`);
  await logOf(tab).getByText("from ada").waitFor();
  await ada.getByRole("button", { name: /Delete @ada's message: from ada/ }).click();
  await eventually(() => logOf(tab).getByText("from ada").count(), 0);

  await ben.keyboard.press("Escape");
  await ben.keyboard.press("5");
  await ada.keyboard.press("Escape");
  await ada.keyboard.press("f");
  await ben.getByText("The next delivery fails: status 500, 1 left").waitFor();

  platform.control.snapshots.restore(before);
  for (const page of [ada, tab]) {
    await eventually(() => logOf(page).getByText("Hello Ada!").count(), 0);
  }
});
