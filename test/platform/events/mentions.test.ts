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

test.each(["post", "comment"] as const)("a mention in a %s's text is an event", async (type) => {
  const platform = await runPlatform();
  const { postId = "" } = act(platform, "post", { text: "no bot in here" });
  const where = type === "comment" ? { postId } : {};
  const made = act(platform, type, { from: "ben", text: "what does @Bot say?", ...where });
  expect(made.events).toMatchObject([
    {
      type: "mention",
      payload: {
        actor: { username: "ben", name: "Ben" },
        entityType: type,
        postId: made.postId,
        excerpt: "what does @Bot say?",
      },
    },
  ]);
});

test("one text can mention several bots; each gets one event", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  const { events, postId } = act(platform, "post", {
    text: "@other or @bot? @other! @ada, @nobody",
  });
  expect(events.map(({ type }) => type)).toEqual(["mention", "mention"]);
  for (const bot of ["bot", "other"]) {
    expect(platform.control.events(undefined, bot)).toMatchObject([{ payload: { postId } }]);
  }
});

test("a direct message makes no mention", async () => {
  const platform = await runPlatform();
  platform.control.apps.create({ username: "other" });
  act(platform, "dm.message", { text: "ask @other" });
  expect(platform.control.events(undefined, "other")).toEqual([]);
  act(platform, "post", { text: "ask @other" });
  expect(platform.control.events(undefined, "other")).toHaveLength(1);
});
