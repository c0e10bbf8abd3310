import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serviceBot } from "../../cli/cli.ts";
import { linkPackage } from "../../support/linked-package.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openPage, useBrowser } from "./support/page.ts";

useBrowser();

/** `service-bot dev` as a newcomer starts it, and the address of the page that it prints. */
async function runDev(): Promise<string> {
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts", "./env": "./src/env.ts" });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "main.ts"),
    `import { Bot } from "service-bot";
     const bot = new Bot();
     bot.on("dm.message", (ctx) => ctx.reply("Hi " + ctx.payload.from.name + "! You wrote: " + ctx.payload.excerpt));
     await bot.start();`,
  );
  writeFileSync(
    join(folder, ".env"),
    "PORT=0\nSERVICE_BASE_URL=http://127.0.0.1:0\nLOG_LEVEL=info\n",
  );
  const args = ["dev", "--entry", "main.ts", "--port", "0", "--retry-interval", "400"];
  const dev = serviceBot(args, { cwd: folder });
  const line = await dev.line((text) => /portal +http/.test(text));
  const ready = await dev.line((text) => text.includes("bot ready"));
  const portal = /http\S+/.exec(line)?.[0] ?? "";
  // The bot has a free port here, which it tells with its being ready where it is not the usual one.
  const webhook = /http\S+/.exec(ready)?.[0] ?? "";
  const { origin, hash } = new URL(portal);
  const answer = await fetch(`${origin}/control/v1/webhook`, {
    method: "PUT",
    headers: {
      "content-type": "application/json",
      "x-control-token": hash.slice("#token=".length),
    },
    body: JSON.stringify({ url: webhook }),
  });
  expect(answer.status).toBe(200);
  return portal;
}

test("chat, answer, the next delivery fails, retry, webhook off, polling, on again", {
  timeout: 90_000,
}, async () => {
  const portalUrl = await runDev();
  const page = await openPage({ url: new URL(portalUrl).origin, portalUrl });
  const messages = page.getByRole("log");
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  const write = async (text: string) => {
    await composer.fill(text);
    await composer.press("Enter");
  };
  const answered = (text: string) => messages.getByText(`Hi Ada! You wrote: ${text}`).waitFor();

  await write("good morning");
  await answered("good morning");

  await composer.press("Escape");
  await page.keyboard.press("f");
  await page.getByText("The next delivery will fail.").waitFor();
  await write("does this arrive?");
  await answered("does this arrive?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  const timeline = page.getByRole("region", { name: /timeline/i }).or(page.getByRole("listbox"));
  await timeline.getByText("<-- [500]").first().waitFor();
  await timeline
    .getByText(/<-- \[200\].*attempt 2/)
    .first()
    .waitFor();

  await page.keyboard.press("w");
  await page.getByText("webhook off").waitFor();
  await page.keyboard.press("1");
  await write("are you there?");
  await answered("are you there?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("4");
  const bot = page.getByRole("region", { name: "What the bot says" });
  await bot.getByText("polling", { exact: true }).waitFor();

  await page.keyboard.press("w");
  await page.getByText("webhook on").waitFor();
  await page.keyboard.press("1");
  await write("and now?");
  await answered("and now?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("4");
  await bot.getByText("auditing", { exact: true }).waitFor();
});
