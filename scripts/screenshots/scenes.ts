import type { Page } from "playwright-core";

export interface Scene {
  readonly name: string;
  readonly colours?: "light" | "dark";
  readonly size?: { readonly width: number; readonly height: number };
  play(page: Page): Promise<void>;
}

/** Each scene continues from the previous one. */
export const scenes: readonly Scene[] = [
  {
    name: "portal-chat",
    play: async (page) => {
      await write(page, "hello");
      await answer(page, "You wrote: hello");
      await write(page, "roll");
      await answer(page, "You rolled a");
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "portal-events",
    play: async (page) => {
      await page.keyboard.press("f");
      await page.getByText("The next delivery will fail.").waitFor();
      await page.keyboard.press("m");
      await page.keyboard.press("2");
      const row = page.getByRole("button", { name: /mentioned the bot/ });
      await row.getByText("Answered").waitFor();
      await row.click();
      await page.getByRole("button", { name: /Delivery attempt 2 .*200/ }).waitFor();
    },
  },
  {
    name: "portal-faults",
    colours: "dark",
    play: async (page) => {
      await page.keyboard.press("5");
      await page.getByRole("button", { name: "Start API requests fail at random" }).click();
      await page.getByRole("button", { name: "Start Deliveries arrive twice" }).click();
      await page.getByRole("button", { name: "Stop Deliveries arrive twice" }).waitFor();
    },
  },
  {
    name: "portal-webhook",
    play: async (page) => {
      await page.keyboard.press("o");
      await page.keyboard.press("w");
      await page.getByRole("link", { name: "Webhook off" }).waitFor();
      await page.keyboard.press("d");
      await page.keyboard.press("4");
      const status = page.getByRole("region", { name: "Bot status" });
      await status.getByText(/^polling/).waitFor({ timeout: 60_000 });
    },
  },
  {
    name: "portal-phone",
    colours: "dark",
    size: { width: 390, height: 760 },
    play: async (page) => {
      await page.keyboard.press("w");
      await page.keyboard.press("1");
      await page.getByRole("link", { name: "Conversations" }).click();
      await page.getByRole("link", { name: "Posts" }).click();
      await page.getByRole("article").first().waitFor();
    },
  },
];

async function write(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  await composer.fill(text);
  await composer.press("Enter");
}

async function answer(page: Page, text: string): Promise<void> {
  await page.getByRole("log").getByText(text).waitFor();
}
