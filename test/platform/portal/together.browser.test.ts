import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { root } from "../../../scripts/compile.ts";
import { eventually, openPage, openPortal, useBrowser } from "./support/page.ts";

useBrowser();

const composerOf = (page: Page, person: string) =>
  page.getByRole("textbox", { name: `Message to @bot as @${person}` });

/** A real picture, as it is in the clipboard or in a drag. */
const PICTURE = readFileSync(join(root, "src/platform/acts/sample.png")).toString("base64");

/** Lets go of, or pastes, a file on an element. */
async function give(page: Page, how: "paste" | "drop", name: string): Promise<void> {
  await composerOf(page, "ada").evaluate(
    (element, { how: type, name: file, data }) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], file, { type: "image/png" }));
      const options = { bubbles: true, cancelable: true };
      element.dispatchEvent(
        type === "paste"
          ? new ClipboardEvent("paste", { ...options, clipboardData: transfer })
          : new DragEvent("drop", { ...options, dataTransfer: transfer }),
      );
    },
    { how, name, data: PICTURE },
  );
}

test("two windows see the same: what one writes, breaks, deletes and restores", {
  timeout: 40_000,
}, async () => {
  const { platform, page: ada } = await openPortal();
  const { id: before } = platform.control.snapshots.take("before");
  const ben = await openPage(platform, "#/chat");
  await ben.getByLabel("You are").selectOption("ben");
  await composerOf(ada, "ada").fill("from ada");
  await composerOf(ada, "ada").press("Enter");
  await composerOf(ben, "ben").fill("from ben");
  await composerOf(ben, "ben").press("Enter");
  await ada.getByRole("log").getByText("Hello Ada!").waitFor();
  await ben.getByRole("log").getByText("Hello Ben!").waitFor();
  await ben.getByRole("region", { name: "Conversations" }).getByText("Hello Ada!").waitFor();
  // Nothing of the other's conversation is in one's own.
  expect(await ada.getByRole("log").getByText("Hello Ben!").count()).toBe(0);

  // A deletion is no event: only the stream's word of a change brings it to the other window.
  const watching = await openPage(platform, "#/chat");
  const deleting = ada.getByRole("button", { name: /Delete the message of @ada: from ada/ });
  await watching.getByRole("log").getByText("from ada").waitFor();
  await deleting.click();
  const confirm = ada.getByRole("dialog").getByRole("button", { name: /delete/i });
  if ((await confirm.count()) > 0) await confirm.click();
  await eventually(() => watching.getByRole("log").getByText("from ada").count(), 0);

  await watching.keyboard.press("5");
  await ada.keyboard.press("Escape");
  await ada.keyboard.press("f");
  await watching
    .getByText("fails with 500", { exact: false })
    .or(watching.getByText(/status 500/))
    .first()
    .waitFor();

  // Of another tab of the same browser, too.
  const second = await ada.context().newPage();
  await second.goto(`${platform.url}/#/chat`);
  await second.getByRole("log").getByText("Hello Ada!").first().waitFor();
  platform.control.snapshots.restore(before);
  for (const page of [ada, second]) {
    await eventually(() => page.getByRole("log").getByText("Hello Ada!").count(), 0);
  }
});

test.each(["paste", "drop"] as const)(
  "an image that one can %s reaches the bot and the conversation",
  async (how) => {
    const { platform, page } = await openPortal();
    await give(page, how, "<b>cat</b>.png");
    await page.getByRole("list", { name: "Images to send" }).getByText("<b>cat</b>.png").waitFor();
    await composerOf(page, "ada").press("Enter");
    await platform.waitFor("api", ({ text }) => text === "Hello Ada!");
    const image = page.getByRole("log").locator("img").first();
    await image.waitFor();
    await eventually(
      () =>
        image.evaluate(
          (img) => img instanceof HTMLImageElement && img.complete && img.naturalWidth > 0,
        ),
      true,
    );
    const [{ conversationId = "" } = {}] = platform.control
      .conversations()
      .items.map(({ id }) => ({ conversationId: id }));
    const [message] = platform.control.messages(conversationId);
    expect(message?.images).toHaveLength(1);
  },
);

test("several conversations stand side by side, and each keeps what is being written in it", async () => {
  const { platform, page } = await openPortal({
    window: { viewport: { width: 1500, height: 900 } },
  });
  platform.control.act({ type: "dm.message", from: "ada", text: "one" });
  platform.control.act({ type: "dm.message", from: "ben", text: "two" });
  // Ada and Ben have a conversation without the bot, too.
  await page.getByRole("button", { name: "Open beside: @ben, @bot" }).click();
  await page.getByRole("log").nth(1).waitFor();
  await composerOf(page, "ada").fill("not sent yet");
  await composerOf(page, "ben").fill("hello from ben");
  await composerOf(page, "ben").press("Enter");
  await page.getByRole("log").getByText("Hello Ben!").first().waitFor();
  expect(await composerOf(page, "ada").inputValue()).toBe("not sent yet");
});
