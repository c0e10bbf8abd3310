import { createServer } from "node:http";
import express from "express";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { array, object, string } from "zod";
import { Bot } from "../../../src/index.ts";
import {
  createPlatform,
  type EventTrace,
  type InboxView,
  type Platform,
} from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { logSink } from "../../support/log.ts";
import { botOptions, runBot, runPlatform } from "../../support/running-bot.ts";
import { request, timeline } from "../support/platform.ts";

/** Returns the dead letter's id. */
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

test("a dead letter shows its steps and is retried over the loopback channel, and the timeline shows both runs", async () => {
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
  expect((await platform.control.inbox.decide(id, "discard")).state).toBe("discarded");
  await platform.waitFor("inbox", ({ change }) => change === "discarded");
  const again = await request<{ error: { code: string } }>(
    platform,
    "POST",
    `/control/v1/inbox/${id}/discard`,
    { body: {} },
  );
  expect(again).toMatchObject({ status: 409, body: { error: { code: "BOT_REFUSED" } } });
});

test("an event that the bot does not have gets 404, and a bot that is down or on another machine is BOT_UNREACHABLE", async () => {
  const { platform, bot, id } = await withDeadLetter();
  const code = async (of: string) => {
    const answer = platform.control.inbox.event(of);
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

test("the bot serves its inbox only to its own token, and not to a platform on another machine", async () => {
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

const register = (bot: Bot) => {
  bot.onTimer("remind", (ctx) => ctx.reply(`Remember ${ctx.payload.data}`));
  bot.cron("digest", "0 9 1 1 *", { timeZone: "Europe/Paris" }, (ctx) => ctx.post("The digest"));
  bot.on("dm.message", async (ctx) => {
    const seen = await ctx.state(`dm:${ctx.payload.conversationId}`, Seen);
    seen.texts.push(ctx.payload.excerpt);
    await ctx.later("remind", "1h", ctx.payload.excerpt, { key: "k" });
  });
};

const Seen = object({ texts: array(string()).default([]) });

interface Items {
  readonly items: readonly unknown[];
}

async function say(platform: Platform, text: string): Promise<string> {
  const { conversationId = "" } = platform.control.act({ type: "dm.message", from: "ada", text });
  await platform.waitFor("run", ({ outcome }) => outcome === "done");
  return conversationId;
}

test("the bot's states, timers and cron jobs are listed over the loopback channel", async () => {
  const platform = await runPlatform();
  await runBot(platform, register);
  const lane = `dm:${await say(platform, "tea")}`;
  const read = async (path: string) => {
    return (await request<Items>(platform, "GET", `/control/v1${path}`)).body;
  };
  expect(await read("/states")).toEqual({
    items: [
      { key: lane, bytes: 17, value: '{"texts":["tea"]}', updatedAt: expect.stringMatching(/Z$/) },
    ],
    nextCursor: null,
  });
  expect((await read("/states?prefix=post:")).items).toEqual([]);
  expect(await read(`/timers?lane=${lane}`)).toEqual({
    items: [{ lane, name: "remind", key: "k", dueAt: expect.stringMatching(/Z$/) }],
    nextCursor: null,
  });
  expect((await read("/timers?lane=dm:none")).items).toEqual([]);
  expect(await read("/crons")).toEqual({
    items: [
      {
        name: "digest",
        pattern: "0 9 1 1 *",
        timeZone: "Europe/Paris",
        missed: "last",
        nextAt: expect.stringMatching(/-01-01T08:00:00.000Z$/),
        last: null,
      },
    ],
  });
  for (const path of ["timers?cursor=bad", "states?cursor=bad", "states?cursor=[1]"]) {
    const bad = await request(platform, "GET", `/control/v1/${path}`);
    expect(bad).toMatchObject({ status: 400, body: { error: { code: "VALIDATION" } } });
  }
});

test("neither a timer for a bot without onTimer nor a timer with too long a name is fired", async () => {
  const platform = await runPlatform();
  await runBot(platform, (bot) => void bot.on("dm.message", () => undefined));
  const fire = async (body: object) => {
    const answer = await request<{ error: { code: string; message: string } }>(
      platform,
      ...(["POST", "/control/v1/timers/fire", { body }] as const),
    );
    return { status: answer.status, ...answer.body.error };
  };
  const refused = await fire({ lane: "dm:1", name: "remind" });
  expect(refused).toMatchObject({ status: 409, code: "BOT_REFUSED" });
  expect(refused.message).toContain("bot.onTimer(");
  for (const field of ["lane", "name", "key"]) {
    const long = { lane: "dm:1", name: "remind", [field]: "x".repeat(100_000) };
    expect(await fire(long)).toMatchObject({ status: 400, code: "VALIDATION" });
  }
  // The encoded path exceeds Node's limit, so Node responds without a body.
  const encoded = "\u20ac".repeat(1_000);
  const tooLong = await fire({ lane: encoded, name: encoded });
  expect(tooLong).toMatchObject({ status: 409, code: "BOT_REFUSED" });
  expect(tooLong.message).toContain("431");
});

test("a timer and a cron job fire immediately, and a missing one gets 404", async () => {
  const platform = await runPlatform();
  await runBot(platform, register);
  const conversationId = await say(platform, "tea");
  const fire = (path: string, body: object) =>
    request<{ eventId: string }>(platform, "POST", `/control/v1${path}/fire`, { body });
  const timer = { lane: `dm:${conversationId}`, name: "remind", key: "k" };
  expect(await fire("/timers", timer)).toMatchObject({ status: 200, body: { fired: 1 } });
  // The timer has already become an event.
  expect((await fire("/timers", timer)).status).toBe(404);
  await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
  const texts = platform.control.messages(conversationId).map(({ text }) => text);
  expect(texts).toEqual(["tea", "Remember tea"]);
  const { status, body } = await fire("/crons/digest", {});
  expect(status).toBe(200);
  expect(body.eventId).toMatch(/^cron:digest:[\d-]+T[\d:]+Z$/);
  await platform.waitFor("api", ({ text }) => text === "The digest");
  await expect
    .poll(async () => (await platform.control.inbox.crons()).items[0]?.last)
    .toMatchObject({ id: body.eventId, state: "done" });
  expect((await fire("/crons/none", {})).status).toBe(404);
});

test("a failing cron job and a failing timer are events in the timeline, and are retried like others", async () => {
  const platform = await runPlatform();
  let isBroken = true;
  const check = () => {
    if (isBroken) throw new TypeError("no digest");
  };
  await runBot(
    platform,
    (bot) => {
      bot.cron("digest", "0 9 1 1 *", check);
      bot.onTimer("remind", async (ctx) => {
        await ctx.reply("Remember");
        check();
      });
      bot.on("dm.message", (ctx) => ctx.later("remind", 0).then(() => undefined));
    },
    { maxAttempts: 1 },
  );
  const conversationId = await say(platform, "tea");
  const isDead = (of: string) => (run: { eventId: string; outcome: string }) =>
    run.eventId.startsWith(of) && run.outcome === "dead";
  const timer = await platform.waitFor("run", isDead("timer:remind:"));
  const { eventId } = await platform.control.inbox.fireCron("digest");
  await platform.waitFor("run", isDead(eventId));
  const entries = (await timeline(platform)).filter(({ kind }) => kind === "event");
  expect(entries.slice(1)).toMatchObject([
    { id: timer.eventId, type: "timer:remind", bot: "bot", from: "bot", conversationId },
    { id: eventId, type: "cron:digest", bot: "bot", from: "bot" },
  ]);
  const { calls, runs } = platform.control.event(timer.eventId);
  expect([calls[0]?.method, runs[0]?.error?.message]).toEqual(["POST", "no digest"]);
  isBroken = false;
  expect((await platform.control.inbox.decide(eventId, "retry")).state).toBe("pending");
  await platform.waitFor("run", (run) => run.eventId === eventId && run.outcome === "done");
  expect(() => platform.control.event("cron:none:2026-11-23T08:00:00Z")).toThrow("no such event");
});

test("cron jobs of two bots with the same id are two events, each with its own run, trace and decision", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const platform = await runPlatform();
  const { apiKey, webhookSecret } = platform.control.apps.create({ username: "helper" });
  const failing = (bot: Bot) => {
    bot.cron("digest", "0 9 1 1 *", async (ctx) => {
      await ctx.post("The digest");
      throw new TypeError("no digest");
    });
  };
  const maxAttempts = 1;
  await runBot(platform, failing, { maxAttempts });
  await runBot(platform, failing, { apiKey, webhookSecret, maxAttempts });
  const { inbox } = platform.control;
  const bots = ["bot", "helper"];
  await expect.poll(() => platform.control.state().reportingBots.toSorted()).toEqual(bots);
  const fired = await Promise.all(bots.map((bot) => inbox.fireCron("digest", bot)));
  const id = fired[0]?.eventId ?? "";
  expect(fired[1]?.eventId).toBe(id);
  for (const bot of bots) await platform.waitFor("run", (run) => run.bot === bot);
  const shown = (await timeline(platform)).filter(({ kind }) => kind === "event");
  expect(shown.map((entry) => "bot" in entry && entry.bot).sort()).toEqual(bots);
  const path = (bot: string) => `/control/v1/events/${encodeURIComponent(id)}?bot=${bot}`;
  for (const bot of bots) {
    const { body } = await request<EventTrace>(platform, "GET", path(bot));
    expect([body.bot, ...body.calls.map((call) => call.bot)]).toEqual([bot, bot]);
    expect(body.runs.map((run) => [run.bot, run.outcome])).toEqual([[bot, "dead"]]);
  }
  expect(await request(platform, "GET", path("none"))).toMatchObject({ status: 404 });
  const decide = (bot: string) => {
    const of = `/control/v1/inbox/${encodeURIComponent(id)}/discard${bot}`;
    return request(platform, "POST", of, { body: {} });
  };
  expect(await decide("")).toMatchObject({
    status: 400,
    body: { error: { code: "VALIDATION" } },
  });
  expect(await decide("?bot=helper")).toMatchObject({
    status: 200,
    body: { state: "discarded" },
  });
  const states = bots.map(async (bot) => (await inbox.event(id, bot)).state);
  expect(await Promise.all(states)).toEqual(["dead", "discarded"]);
  expect(await platform.waitFor("inbox")).toMatchObject({ bot: "helper", eventId: id });
});

test("a timer that fails before any request is an event in its conversation or post", async () => {
  const platform = await runPlatform();
  await runBot(
    platform,
    (bot) => {
      bot.onTimer("remind", () => {
        throw new TypeError("no reminder");
      });
      bot.on("dm.message", (ctx) => ctx.later("remind", 0).then(() => undefined));
      bot.on("comment", (ctx) => ctx.later("remind", 0).then(() => undefined));
    },
    // A custom lane does not identify the conversation.
    { maxAttempts: 1, lane: () => "all" },
  );
  const { conversationId } = platform.control.act({ type: "dm.message", from: "ada" });
  const isDead = ({ outcome }: { outcome: string }) => outcome === "dead";
  const { seq } = await platform.waitFor("run", isDead);
  const { postId } = platform.control.act({ type: "comment", from: "ada" });
  const run = await platform.waitFor("run", isDead, { after: seq });
  expect(run).toMatchObject({ postId });
  const entries = (await timeline(platform)).filter(({ kind }) => kind === "event");
  const timers = entries.filter((entry) => "type" in entry && entry.type === "timer:remind");
  expect(timers).toMatchObject([{ conversationId }, { postId }]);
});

test("states are paged, and a long state is truncated", async () => {
  const platform = await runPlatform();
  await runBot(platform, (bot) => {
    bot.on("dm.message", async (ctx) => {
      for (let n = 0; n < 51; n += 1) {
        const { texts } = await ctx.state(`k${String(n).padStart(2, "0")}`, Seen);
        texts.push("é".repeat(n === 0 ? 5_000 : 1));
      }
    });
  });
  await say(platform, "go");
  const { items, nextCursor } = await platform.control.inbox.states();
  expect(items.map(({ key }) => key)).toHaveLength(50);
  expect(items[0]).toMatchObject({ bytes: 10_014, value: expect.stringMatching(/^.{4000}$/) });
  const rest = await platform.control.inbox.states({ cursor: nextCursor ?? undefined });
  expect(rest).toMatchObject({ items: [{ key: "k50" }], nextCursor: null });
});

describe("a bot without a webhook", () => {
  test("that polls has reported its URL, so its inbox is reachable", async () => {
    const platform = await runPlatform();
    await runPolling(platform);
    const conversationId = await say(platform, "tea");
    const lane = `dm:${conversationId}`;
    expect((await platform.control.inbox.timers({ lane })).items).toHaveLength(1);
    await platform.control.inbox.fireTimers({ lane, name: "remind" });
    await platform.waitFor("api", ({ created }) => created?.conversationId === conversationId);
    expect((await platform.control.botView()).status).toMatchObject({ ready: true });
  });

  test("in an Express app is reachable at its webhook, with only its own token", async () => {
    const platform = await runPlatform();
    const bot = new Bot({ ...botOptions(platform), logger: logSink().log });
    register(bot);
    const app = express().use(bot.middleware());
    const { url } = await listenUntilEnd(createServer(app));
    await bot.start({ listen: false, standalone: false });
    onTestFinished(() => bot.stop());
    await expect(platform.control.inbox.crons()).rejects.toMatchObject({
      code: "BOT_UNREACHABLE",
    });
    platform.control.saveWebhook({ url: `${url}/webhook` });
    expect((await platform.control.inbox.crons()).items).toMatchObject([{ name: "digest" }]);
    const path = `${url}/local/v1/crons`;
    expect((await fetch(path)).status).toBe(404);
    expect((await fetch(path, { headers: { authorization: "Bearer x" } })).status).toBe(404);
  });
});

async function runPolling(platform: Platform): Promise<Bot> {
  const options = { delivery: "polling", pollIntervalMs: 50, startFrom: "oldest" } as const;
  const bot = new Bot({ ...botOptions(platform), logger: logSink().log, ...options });
  register(bot);
  await bot.start({ standalone: false });
  onTestFinished(() => bot.stop());
  await expect.poll(() => platform.control.state().reportingBots).toEqual(["bot"]);
  return bot;
}

describe("a URL reported by a bot", () => {
  async function reported(platform: Platform, apiKey: string, credentials = "") {
    const tokens: (string | undefined)[] = [];
    const server = createServer((incoming, answer) => {
      tokens.push(incoming.headers.authorization);
      answer.writeHead(404).end('{"error":{"code":"NOT_FOUND"}}');
    });
    const own = (await listenUntilEnd(server)).url;
    const answer = await fetch(`${platform.url}/local/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ runs: [], url: own.replace("//", `//${credentials}`) }),
    });
    expect(answer.status).toBe(200);
    return tokens;
  }

  const ask = (platform: Platform) =>
    platform.control.inbox.crons().then(
      () => "",
      ({ code }: { code: string }) => code,
    );

  test("gets only the token that reported it, and none once that token is revoked", async () => {
    const platform = await runPlatform();
    const { apiKey } = platform.control.apps.createToken(["read"]);
    const id = platform.control.apps.tokens().at(-1)?.id ?? "";
    const tokens = await reported(platform, apiKey);
    expect(await ask(platform)).toBe("BOT_UNREACHABLE");
    expect(tokens).toEqual([`Bearer ${apiKey}`]);
    platform.control.apps.revokeToken(id);
    expect(await ask(platform)).toBe("BOT_UNREACHABLE");
    expect(tokens).toHaveLength(1);
  });

  test("is called without the credentials in it", async () => {
    const platform = await runPlatform();
    const tokens = await reported(platform, platform.apiKey, "user:pw@");
    expect(await ask(platform)).toBe("BOT_UNREACHABLE");
    expect(tokens).toEqual([`Bearer ${platform.apiKey}`]);
    expect((await platform.control.botView()).url).not.toContain("pw");
  });

  test.each(["http://192.168.1.7:3000", "https://example.com", "nonsense", "file:///etc/passwd"])(
    "is not called if it is %s",
    async (url) => {
      const asked: string[] = [];
      const platform = createPlatform({
        fetch: async (request) => {
          asked.push(request.url);
          return Response.json({ items: [] });
        },
      });
      onTestFinished(() => platform.stop());
      const answer = await platform.fetch(`${platform.url}/local/v1/runs`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${platform.apiKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ runs: [], url }),
      });
      expect(answer.status).toBe(200);
      const code = platform.control.inbox.crons().catch((error: { code: string }) => error.code);
      expect(await code).toBe("BOT_UNREACHABLE");
      expect((await platform.control.botView()).url).toBeNull();
      expect(asked).toEqual([]);
    },
  );
});
