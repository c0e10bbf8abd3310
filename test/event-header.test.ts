import { expect, test } from "vitest";
import { Client } from "./faces/client.ts";
import { duringEvent } from "./faces/core.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

test("what a handler asks of a platform on this machine belongs to its event, replies and other calls alike", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, (bot) => {
    bot.on("dm.message", async (ctx) => {
      await ctx.client.posts.get("p_1");
      await new Promise((resolve) => setImmediate(resolve));
      await ctx.reply("hi");
    });
    bot.on("follow", (ctx) => ctx.client.me());
  });
  const from = ["ada", "ben", "cleo"];
  const messages = from.map((name) => platform.control.act({ type: "dm.message", from: name }));
  const { events } = platform.control.act({ type: "follow", from: "ada" });
  const answered = [...messages.map(({ conversationId }) => conversationId)].map((id) =>
    platform.waitFor("api", ({ created }) => created?.conversationId === id),
  );
  await Promise.all(answered);
  await platform.waitFor("api", ({ eventId }) => eventId === events[0]?.id);
  await bot.idle();
  for (const { events: made, conversationId } of messages) {
    const { calls } = platform.control.event(made[0]?.id ?? "");
    const shown = calls.map(({ method, path, guessed }) => ({ method, path, guessed }));
    // Before its first reply, the bot may ask the platform for the time.
    expect(shown.filter(({ path }) => path !== "/me")).toEqual([
      { method: "GET", path: "/posts/p_1", guessed: undefined },
      { method: "POST", path: `/dm/conversations/${conversationId}/messages`, guessed: undefined },
    ]);
  }
});

test("nothing outside of a handler names an event", async () => {
  const platform = await runPlatform();
  const client = new Client({ baseUrl: platform.url, apiKey: platform.apiKey });
  const { events } = platform.control.act({ type: "follow", from: "ada" });
  const [id = ""] = events.map((event) => event.id);
  await client.me();
  expect(await platform.waitFor("api")).not.toHaveProperty("eventId");
  // Positive control: inside a run, the same call sends the header.
  await duringEvent({ id, trace: undefined }, () => client.me());
  expect(platform.control.event(id).calls).toMatchObject([{ id: "call_2", path: "/me" }]);
});

test.each([
  ["http://127.0.0.1:4400", "evt_1"],
  ["http://127.8.0.1", "evt_1"],
  ["http://localhost:4400", "evt_1"],
  ["http://[::1]:4400", "evt_1"],
  ["https://platform.example", undefined],
  ["https://localhost.example", undefined],
  ["http://192.168.0.2:4400", undefined],
  ["http://0.0.0.0:4400", undefined],
])("a platform at %s receives %s", async (baseUrl, told) => {
  const seen: (string | null)[] = [];
  const fetch = async (_url: string, { headers }: RequestInit) => {
    seen.push(new Headers(headers).get("x-service-event"));
    return Response.json({ username: "bot" });
  };
  const client = new Client({ baseUrl, apiKey: "key-of-this-test", fetch });
  await duringEvent({ id: "evt_1", trace: undefined }, () => client.me());
  expect(seen).toEqual([told ?? null]);
});

test("an id that does not fit in a header is encoded, and the call succeeds", async () => {
  const platform = await runPlatform();
  const client = new Client({ baseUrl: platform.url, apiKey: platform.apiKey });
  const me = await duringEvent({ id: "evt_1\r\nx: y", trace: undefined }, () => client.me());
  expect(me.username).toBe("bot");
  const id = "cron:täglich um 9:2026-11-22T09:00:00Z";
  await duringEvent({ id, trace: undefined }, () => client.me());
  expect(await platform.waitFor("api", ({ eventId }) => eventId !== undefined)).toMatchObject({
    eventId: id,
  });
});

test.each(["order:1", "Bestellung 1 · März"])(
  "the messages of an own event, %s, are not credited to the user's last message",
  async (id) => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, (bot) => {
      bot.on("dm.message", () => undefined);
    });
    const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada" });
    await platform.waitFor("run");
    await duringEvent({ id, trace: undefined }, async () => {
      await bot.client.dms.send(conversationId, { text: "Paid!" });
    });
    const call = await platform.waitFor("api", ({ created }) => created !== undefined);
    expect(call).not.toHaveProperty("eventId");
    expect(call).not.toHaveProperty("guessed");
  },
);

test("the id of an earlier state's event is not taken for another event", async () => {
  const platform = await runPlatform();
  const client = new Client({ baseUrl: platform.url, apiKey: platform.apiKey });
  await duringEvent({ id: "evt_000000099999", trace: undefined }, () => client.me());
  expect(await platform.waitFor("api")).not.toHaveProperty("eventId");
});
