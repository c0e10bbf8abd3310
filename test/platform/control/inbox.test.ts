import { expect, test } from "vitest";
import type { InboxView } from "../../faces/platform.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { request } from "../support/platform.ts";

/** A bot whose handler fails until it is mended, and the id of its dead letter. */
async function withDeadLetter() {
  const platform = await runPlatform();
  let isBroken = true;
  const { bot } = await runBot(
    platform,
    (made) =>
      made.on("dm.message", async (ctx) => {
        await ctx.step("look up", async () => 7);
        if (isBroken) throw new TypeError("no price");
      }),
    { maxAttempts: 1 },
  );
  const { events } = platform.control.act({ type: "dm.message", from: "ada" });
  const id = events[0]?.id ?? "";
  await platform.waitFor("run", ({ outcome }) => outcome === "dead");
  const mend = () => {
    isBroken = false;
  };
  return { platform, bot, id, mend };
}

test("a dead letter shows its steps, is retried over the loopback channel, and the timeline has both", async () => {
  const { platform, id, mend } = await withDeadLetter();
  const shown = await request<InboxView>(platform, "GET", `/control/v1/inbox/${id}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toMatchObject({
    id,
    state: "dead",
    steps: [{ name: "step/look up", state: "done" }],
  });
  mend();
  const retried = await request(platform, "POST", `/control/v1/inbox/${id}/retry`, { body: {} });
  expect(retried.status).toBe(200);
  await platform.waitFor("inbox", ({ eventId, change }) => eventId === id && change === "retried");
  await platform.waitFor("run", ({ eventId, outcome }) => eventId === id && outcome === "done");
});

test("a dead letter is discarded once, and the bot's refusal of a second time is passed on", async () => {
  const { platform, id } = await withDeadLetter();
  expect((await platform.control.decideInbox(id, "discard")).state).toBe("discarded");
  await platform.waitFor("inbox", ({ change }) => change === "discarded");
  const again = await request<{ error: { code: string } }>(
    platform,
    "POST",
    `/control/v1/inbox/${id}/discard`,
    { body: {} },
  );
  expect(again).toMatchObject({ status: 409, body: { error: { code: "BOT_REFUSED" } } });
});

test("an event that the bot does not have is 404, and a bot that is away or elsewhere is BOT_UNREACHABLE", async () => {
  const { platform, bot, id } = await withDeadLetter();
  const code = async (of: string) => {
    const answer = platform.control.inboxEvent(of);
    return await answer.then(
      () => "",
      (error: { code: string }) => error.code,
    );
  };
  expect(await code("evt_999999999999")).toBe("NOT_FOUND");
  platform.control.saveWebhook({ url: `${bot.url}/webhook`, enabled: false });
  const { events } = platform.control.act({ type: "like", from: "ada" });
  expect(await code(events[0]?.id ?? "")).toBe("NOT_FOUND");
  await bot.stop();
  expect(await code(id)).toBe("BOT_UNREACHABLE");
  platform.control.saveWebhook({ url: "https://example.com/webhook", enabled: false });
  expect(await code(id)).toBe("BOT_UNREACHABLE");
});

test("the bot serves its inbox to its own token alone, and not to a platform on another machine", async () => {
  const { platform, bot, id } = await withDeadLetter();
  const ask = (url: string, method: string, token: string) =>
    fetch(url, { method, headers: { authorization: `Bearer ${token}` } });
  const path = `/local/v1/inbox/${id}`;
  expect((await ask(`${bot.url}${path}`, "GET", platform.apiKey)).status).toBe(200);
  expect((await ask(`${bot.url}${path}/retry`, "GET", platform.apiKey)).status).toBe(405);
  expect((await ask(`${bot.url}${path}`, "GET", "another")).status).toBe(404);
  expect((await ask(`${bot.url}${path}/discard`, "POST", "another")).status).toBe(404);
  expect((await fetch(`${bot.url}${path}`)).status).toBe(404);
  const remote = await runBot(platform, () => undefined, {
    baseUrl: "https://platform.example",
    fetch: (url, init) =>
      fetch(String(url).replace("https://platform.example", platform.url), init),
  });
  expect((await ask(`${remote.bot.url}${path}`, "GET", platform.apiKey)).status).toBe(404);
});

test("states and timers of the bot are read over the loopback channel", async () => {
  const platform = await runPlatform();
  await runBot(platform, (bot) => {
    bot.onTimer("remind", () => undefined);
    bot.on("dm.message", async (ctx) => {
      await ctx.later("remind", "1h", { text: "tea" });
    });
  });
  platform.control.act({ type: "dm.message", from: "ada" });
  await platform.waitFor("run", ({ outcome }) => outcome === "done");
  const { status, body } = await request(platform, "GET", "/control/v1/inbox");
  expect(status).toBe(200);
  expect(body).toEqual({
    states: [],
    timers: [expect.objectContaining({ name: "remind", lane: expect.stringContaining("dm:c_") })],
  });
});
