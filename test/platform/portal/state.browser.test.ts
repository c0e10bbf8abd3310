import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { array, object, string } from "zod";
import { runPlatform } from "../../support/running-bot.ts";
import { eventually, openPage, openPortal } from "./support/page.ts";

const Notes = object({ notes: array(string()).default([]) });

const DAY_MS = 86_400_000;

const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("the State view fires timers and crons early, and finds states by key", async () => {
  const { platform, page } = await openPortal({
    register: (bot) => {
      bot.onTimer("remind", (ctx) => ctx.reply("Time for tea"));
      bot.cron("digest", "0 9 * * *", { timeZone: "Europe/Paris" }, (ctx) =>
        ctx.post("The digest"),
      );
      bot.on("dm.message", async (ctx) => {
        await ctx.later("remind", "1h");
        await ctx.later("remind", "2d", undefined, { key: "late" });
        for (let n = 0; n < 60; n += 1) {
          const { notes } = await ctx.state(`note:${String(n).padStart(2, "0")}`, Notes);
          notes.push(ctx.payload.excerpt);
        }
        await ctx.reply("I will.");
      });
    },
    address: "#/state",
  });
  const [crons, timers, states] = ["Cron", "Timers", "States"].map((name) => section(page, name));
  if (crons === undefined || timers === undefined || states === undefined) throw new Error();
  await timers.getByText("No timers").waitFor();
  await crons.getByText("Europe/Paris").waitFor();

  const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
  await timers.getByText(/^due in (1 h|59 min)/).waitFor();
  // Timers use the machine's clock, so moving the platform's clock does not affect them.
  platform.control.clock.set({ advanceMs: DAY_MS });
  await page.getByText("The platform's clock is 1 d ahead.").waitFor();
  await timers.getByText(/^due in (1 h|59 min)/).waitFor();
  platform.control.clock.set({ now: new Date().toISOString() });

  // The key identifies the second timer.
  const fire = timers.getByRole("button", { name: /^Fire now: remind/ });
  await timers.getByRole("button", { name: /^Fire now: remind in .* late$/ }).click();
  await eventually(() => fire.count(), 1);
  await fire.click();
  await timers.getByText("No timers").waitFor();
  await eventually(
    async () => platform.control.messages(conversationId).map(({ text }) => text),
    expect.arrayContaining(["Time for tea"]),
  );

  await crons.getByRole("button", { name: "Fire now: digest" }).click();
  await crons.getByText("done", { exact: true }).waitFor();
  expect(platform.control.posts().items.map(({ text }) => text)).toContain("The digest");

  const shown = states.locator("li");
  await eventually(() => shown.count(), 50);
  await states.getByRole("button", { name: "Show more" }).click();
  await eventually(() => shown.count(), 60);
  await states.getByRole("searchbox").fill("note:07");
  await eventually(() => shown.count(), 1);
  await shown.getByText("note:07").click();
  await states.getByLabel("State of note:07").getByText('"notes"').waitFor();
  await states.getByRole("searchbox").fill("none");
  await states.getByText("No key begins with this text.").waitFor();
});

test("without a bot the State view names the remedy", async () => {
  const page = await openPage(await runPlatform(), "#/state");
  await page
    .getByRole("alert")
    .getByText(/service-bot inbox/)
    .waitFor();
});
