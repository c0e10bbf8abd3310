import { test } from "vitest";
import { eventually, openPortal } from "./support/page.ts";

test("chat, reply, failed delivery, retry, webhook off, polling, webhook on again", async () => {
  const { page } = await openPortal({
    register: (bot) =>
      bot.on("dm.message", (ctx) =>
        ctx.reply(`Hi ${ctx.payload.from.name}! You wrote: ${ctx.payload.excerpt}`),
      ),
    bot: { pollIntervalMs: 100, auditIntervalMs: 300, silenceMs: 300 },
  });
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  const talk = async (text: string) => {
    await composer.fill(text);
    await composer.press("Enter");
    await page.getByRole("log").getByText(`Hi Ada! You wrote: ${text}`).waitFor();
    await page.keyboard.press("Escape");
  };
  await talk("good morning");

  await page.keyboard.press("f");
  await page.getByText("The next delivery will fail.").waitFor();
  await talk("does this arrive?");
  await page.keyboard.press("2");
  const row = page.getByRole("button", { name: /@ada “does this arrive\?”/ });
  await row.getByText("Answered “Hi Ada! You wrote: does this arrive?”").waitFor();
  await row.click();
  await page.getByRole("button", { name: /Delivery attempt 1 .*500/ }).waitFor();
  await page.getByRole("button", { name: /Delivery attempt 2 .*200/ }).waitFor();

  await page.keyboard.press("w");
  const banner = page.getByRole("status", { name: "Active problems" });
  await banner.getByText("Webhook off").waitFor();
  await page.keyboard.press("1");
  await talk("are you there?");
  await page.keyboard.press("4");
  const bot = page.getByRole("region", { name: "Bot status" });
  await bot.getByText(/^polling:/).waitFor();

  await page.keyboard.press("w");
  await eventually(() => banner.textContent(), "");
  await page.keyboard.press("1");
  await talk("and now?");
  await page.keyboard.press("4");
  await bot.getByText(/^auditing:/).waitFor();
});
