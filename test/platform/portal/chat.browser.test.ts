import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

const picture = readFileSync(
  new URL("../../../src/platform/acts/sample.png", import.meta.url),
).toString("base64");

const logOf = (page: Page) => page.getByRole("log");
const fieldOf = (page: Page) => page.getByRole("textbox", { name: /^Message to @bot/ });

/** What has the focus, by its name. */
const focused = (page: Page) => () =>
  page.evaluate("document.activeElement.getAttribute('aria-label')");

test("a person writes to the bot by keyboard alone, and its answer arrives", async () => {
  const { page } = await openPortal();
  await page.getByRole("textbox", { name: "Message to @bot as @ada" }).waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("hello");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("bot");
  await page.keyboard.press("Enter");
  await logOf(page).getByText("Hello Ada!").waitFor();
  expect(await logOf(page).getByText("hello\nbot").count()).toBe(1);
  expect(await focused(page)()).toBe("Message to @bot as @ada");
  await page.keyboard.type("a second one, at once");
  await page.keyboard.press("Enter");
  await eventually(() => logOf(page).getByText("Hello Ada!", { exact: true }).count(), 2);
});

test("messages written without a pause arrive in their order", async () => {
  const { page, platform } = await openPortal();
  await fieldOf(page).focus();
  for (const text of ["one", "two", "three"]) {
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
  }
  await eventually(async () => {
    const [talk] = platform.control.conversations({}).items;
    const all = platform.control.messages(talk?.id ?? "");
    return all.filter(({ fromBot }) => !fromBot).map(({ text }) => text);
  }, ["one", "two", "three"]);
});

test("while there is no answer, it says where the event is, and leads there", async () => {
  // Long enough for the failure to be seen, however busy the machine is.
  const { page, platform } = await openPortal({
    register: () => {},
    platform: { retryIntervalMs: 2_000 },
  });
  platform.control.setFaults({ webhook: { mode: "status", status: 503, times: 1 } });
  await fieldOf(page).fill("anybody?");
  await page.keyboard.press("Enter");
  await page.getByText("failed [503] attempt 1, to be retried").waitFor();
  const state = page.getByRole("link", { name: /^delivered \[200\] .* attempt 2$/ });
  await state.waitFor();
  expect(await state.getAttribute("href")).toBe("#/events/evt_000000000001");
});

test("somebody new speaks: what is refused is said in the dialog", async () => {
  const { page } = await openPortal();
  await page.keyboard.press("p");
  const dialog = page.getByRole("dialog", { name: "Who speaks?" });
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
});

test("images are chosen, pasted and dropped, sent, and opened large", async () => {
  const { page } = await openPortal();
  await page.getByLabel("Images", { exact: true }).setInputFiles([
    { name: "<i>one</i>.png", mimeType: "image/png", buffer: Buffer.from(picture, "base64") },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no image") },
    { name: "huge.png", mimeType: "image/png", buffer: Buffer.alloc(5 * 1024 * 1024 + 1) },
  ]);
  await page.getByText("notes.txt: text/plain is not taken.").waitFor();
  await page.getByText("huge.png: 5.0 MB is too large.").waitFor();
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
  await page.getByRole("button", { name: "Open image 2 of 2 of @ada" }).click();
  await page.getByRole("dialog", { name: "Image 2 of 2 of @ada" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("dialog", { name: "Image 1 of 2 of @ada" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await chosen.count()).toBe(0);
});

test("what could not be sent stays in the field", async () => {
  const { page, platform } = await openPortal();
  platform.control.setBlock({ by: "bot", whom: "ada" });
  await fieldOf(page).fill("let me in");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("has blocked the other").waitFor();
  expect(await fieldOf(page).inputValue()).toBe("let me in");
});

test("Delete deletes the message that has the focus, which keeps its place and the focus", async () => {
  const { page, platform } = await openPortal({ register: () => {} });
  platform.control.act({ type: "dm.message", from: "ada", text: "oops" });
  platform.control.act({ type: "dm.message", from: "ada", text: "fine" });
  await logOf(page).getByText("fine").waitFor();
  await logOf(page).getByRole("article").last().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Delete");
  await logOf(page).getByText("deleted", { exact: true }).waitFor();
  expect(await logOf(page).getByText("oops").count()).toBe(0);
  expect(await logOf(page).getByRole("article").count()).toBe(2);
  expect(await page.evaluate("document.activeElement.dataset.message")).toMatch(/^m_/);
});

test("conversations stand side by side, each written to as its person; a group says why it cannot be", async () => {
  const { page, platform } = await openPortal();
  const { control } = platform;
  control.act({ type: "dm.message", from: "ben", text: "ben here" });
  await page.getByText("Hello Ben!").first().waitFor();
  control.createGroup({ members: ["ada", "ben", "bot"], text: "all here?" });
  await page.reload();
  await page.getByRole("button", { name: "Open beside: @ben, @bot (group)" }).click();
  await page.getByText("A group can be read here.").waitFor();
  await page.getByRole("button", { name: "Open beside: @ben, @bot", exact: true }).click();
  await eventually(focused(page), "Message to @bot as @ben");
  await page.keyboard.type("beside");
  await page.keyboard.press("Enter");
  await eventually(() => page.getByText("Hello Ben!", { exact: true }).count(), 2);
  await page.getByRole("button", { name: /^Close .*@ada, @ben/ }).click();
  await eventually(() => logOf(page).count(), 1);
});

test("older messages are loaded without moving what is read, and new ones wait below", async () => {
  const { page, platform } = await openPortal({ register: () => {} });
  const write = (text: string, count = 1) =>
    platform.control.act({ type: "dm.message", from: "ada", text, count });
  write("again", 120);
  const articles = logOf(page).getByRole("article");
  await eventually(() => articles.count(), 50);
  await eventually(() => distance(page), 0);
  await logOf(page).evaluate((log) => log.scrollTo(0, 0));
  const first = await articles.first().getAttribute("data-message");
  const top = async () =>
    Math.round((await page.locator(`[data-message="${first}"]`).boundingBox())?.y ?? -1);
  const before = await top();
  await page.getByRole("button", { name: "Load older" }).click();
  await eventually(() => articles.count(), 100);
  expect(await top()).toBe(before);
  write("the newest");
  await page.getByRole("button", { name: "New messages" }).click();
  await eventually(() => distance(page), 0);
  write("one more");
  await logOf(page).getByText("one more").waitFor();
  await eventually(() => distance(page), 0);
});

test("on a phone there is the list or one conversation", async () => {
  const { platform } = await openPortal();
  const page = await openPage(platform, "", { viewport: { width: 360, height: 740 } });
  await page.getByRole("link", { name: /New conversation: just write/ }).click();
  await fieldOf(page).fill("from the road");
  await page.getByRole("button", { name: "Send" }).click();
  await logOf(page).getByText("Hello Ada!").waitFor();
  expect(await page.getByRole("searchbox").isVisible()).toBe(false);
  await page.getByRole("link", { name: "← Conversations" }).click();
  await page.getByRole("searchbox").waitFor();
  expect(await logOf(page).isVisible()).toBe(false);
});

/** How far the end is out of sight, in CSS pixels. */
function distance(page: Page): Promise<number> {
  return logOf(page).evaluate((log) =>
    Math.round(log.scrollHeight - log.scrollTop - log.clientHeight),
  );
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

test("one's own conversation is there, however many others have spoken since", async () => {
  const { page, platform } = await openPortal();
  platform.control.act({ type: "dm.message", from: "ada", text: "long ago" });
  for (let nth = 0; nth < 60; nth += 1) {
    platform.control.act({ type: "dm.message", from: `person${nth}` });
  }
  await page.reload();
  await logOf(page).getByText("long ago").waitFor();
});
