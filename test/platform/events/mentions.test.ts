import { expect, test } from "vitest";
import { mentionsIn } from "../../faces/platform.ts";
import { act, runPlatform } from "../support/platform.ts";

test.each([
  ["@bot", ["bot"]],
  ["hey @Bot!", ["bot"]],
  ["(@bot), @BEN_2; @ada", ["bot", "ben_2", "ada"]],
  ["@bot @bot @BOT", ["bot"]],
  ["你好@bot你", ["bot"]],
  ["thanks, @bot.", ["bot"]],
  ["@bot... or @bot--", ["bot"]],
  ["@my.little-bot?", ["my.little-bot"]],
  ["@botany", ["botany"]],
  ["@_", ["_"]],
  ["me@bot", []],
  ["me.@bot and me_@bot", []],
  ["https://example.org/@bot", []],
  ["@@bot", []],
  ["@", []],
  ["@ bot", []],
  ["@-bot @.bot", []],
  ["bot", []],
  ["", []],
])("%j mentions %j", (text, usernames) => {
  expect([...mentionsIn(text)]).toEqual(usernames);
});

test("a long run of username characters is parsed quickly", () => {
  // A quadratic search would take minutes.
  expect([...mentionsIn(`@${"a.-".repeat(100_000)}`)]).toHaveLength(1);
  expect([...mentionsIn("@".repeat(300_000))]).toEqual([]);
});

test("a direct message makes no mention", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  act(platform, "dm.message", { text: "ask @other" });
  expect(platform.control.events(undefined, "other")).toEqual([]);
  act(platform, "post", { text: "ask @other" });
  expect(platform.control.events(undefined, "other")).toHaveLength(1);
});
