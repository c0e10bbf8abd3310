import { createServer } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot } from "../../src/index.ts";
import type { Platform } from "../faces/platform.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { logSink } from "../support/log.ts";
import { botOptions, runBot, runPlatform } from "../support/running-bot.ts";
import { runCommand } from "./command.ts";

function trigger(
  { url, portalUrl = url }: Pick<Platform, "url"> & Partial<Pick<Platform, "portalUrl">>,
  ...args: readonly string[]
): ReturnType<typeof runCommand> {
  return runCommand(["trigger", ...args, "--platform", portalUrl]);
}

async function runRecorder(): Promise<{ readonly url: string; readonly bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (chunks.length > 0) bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end(JSON.stringify({ events: [], postId: "p_7", timelineSeq: 0 }));
  });
  return { url: (await listenUntilEnd(server)).url, bodies };
}

describe("service-bot trigger", () => {
  test("makes the event happen and prints its id", async () => {
    const platform = await runPlatform();
    const { code, out } = await trigger(platform, "follow", "--from", "ben");
    expect(code).toBe(0);
    const [event] = platform.control.events();
    expect(event).toMatchObject({ type: "follow", payload: { actor: { username: "ben" } } });
    expect(out).toBe(`follow ${event?.id}`);
  });

  test("makes an event of every type happen", async () => {
    const platform = await runPlatform();
    const types = ["dm.message", "mention", "comment", "reply", "like", "repost", "quote"];
    for (const type of types) {
      const { code, out } = await trigger(platform, type, "--json");
      const events: { type: string }[] = JSON.parse(out).events;
      // A reply in a thread on the bot's own post is also a comment on that post.
      const made = type === "reply" ? [type, "comment"] : [type];
      expect({ code, types: events.map((event) => event.type) }).toEqual({ code: 0, types: made });
    }
  });

  test("attaches images", async () => {
    const platform = await runPlatform();
    const { out } = await trigger(platform, "dm.message", "--text", "", "--image", "2", "--json");
    const { conversationId } = JSON.parse(out);
    const [message] = platform.control.messages(conversationId);
    expect(message?.text).toBe("");
    expect(message?.images).toHaveLength(2);
  });

  test("hands the platform every detail of the act", async () => {
    const recorder = await runRecorder();
    const words = ["--from", "helper", "--to", "bot", "--text", "hi", "--image", "1"];
    const places = ["--conversation", "c_1", "--post", "p_1", "--comment", "cm_1", "--count", "2"];
    await trigger(recorder, "mention", ...words, ...places);
    await trigger(recorder, "poll.closed", "--payload", '{"pollId":"x"}');
    expect(recorder.bodies).toEqual([
      {
        ...{ type: "mention", from: "helper", to: "bot", text: "hi", images: 1 },
        ...{ conversationId: "c_1", postId: "p_1", commentId: "cm_1", count: 2 },
      },
      { type: "poll.closed", from: "ada", payload: { pollId: "x" } },
    ]);
  });

  test("creates an event of a custom type, for the named bot", async () => {
    const platform = await runPlatform();
    platform.control.apps.create({ username: "helper" });
    const payload = { pollId: "x" };
    const given = ["--to", "helper", "--payload", JSON.stringify(payload)];
    const { code, out } = await trigger(platform, "poll.closed", ...given);
    expect({ code, out }).toEqual({ code: 0, out: "poll.closed evt_000000000001" });
    expect(platform.control.events(undefined, "helper")).toMatchObject([{ payload }]);
    expect(platform.control.events()).toEqual([]);
  });

  test("reports that no bot gets the event, and does not wait", async () => {
    const recorder = await runRecorder();
    const { code, out } = await trigger(recorder, "post", "--text", "good morning");
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^post p_7: no event/) });
    const inVain = await trigger(recorder, "post", "--wait", "--json");
    expect({ code: inVain.code, ...JSON.parse(inVain.out) }).toMatchObject({
      ...{ code: 1, postId: "p_7", outcome: "none" },
      error: { code: "NO_EVENT" },
    });
  });
});

describe("--wait", () => {
  test("prints the bot's answer", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("mention", (ctx) => ctx.reply("at your service")));
    const { code, out } = await trigger(platform, "mention", "--text", "@bot hi", "--wait");
    expect(code).toBe(0);
    expect(out).toContain("bot: at your service");
  });

  test("takes the answer of a bot that polls", async () => {
    const platform = await runPlatform();
    await runPollingBot(platform);
    const { code, out } = await trigger(platform, "dm.message", "--wait", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ outcome: "answered", answer: { text: "polled" } });
  });

  test("is content with a bot that has handled the event and written nothing", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("dm.message", () => undefined));
    const { code, out } = await trigger(platform, "dm.message", "--wait");
    expect(code).toBe(0);
    expect(out).toContain("handled; the bot wrote nothing");
    const json = await trigger(platform, "dm.message", "--wait", "--json");
    expect({ code: json.code, ...JSON.parse(json.out) }).toMatchObject({
      ...{ code: 0, outcome: "handled", answers: [] },
    });
  });

  test("ends with 1 and the error when the handler fails, for every type", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => {
      bot.on(["dm.message", "like"], () => {
        throw new TypeError("no such\u001b[2J thing");
      });
    });
    const { code, err } = await trigger(platform, "dm.message", "--wait");
    expect(code).toBe(1);
    expect(err).toMatch(/attempt 1 failed: TypeError: no such.* thing {2}next attempt in /);
    expect(err).not.toContain("\u001b");
    const json = await trigger(platform, "like", "--wait", "--json");
    expect({ code: json.code, ...JSON.parse(json.out) }).toMatchObject({
      ...{ code: 1, outcome: "failed" },
      run: {
        ...{ attempt: 1, outcome: "retry", retryInMs: expect.any(Number) },
        error: { type: "TypeError", message: "no such\u001b[2J thing" },
      },
      error: { code: "HANDLER_FAILED" },
    });
  });

  test("ends with 1 when the handler fails after it has answered", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => {
      bot.on("dm.message", async (ctx) => {
        await ctx.reply("looking it up");
        throw new Error("not found");
      });
    });
    const { code, out, err } = await trigger(platform, "dm.message", "--wait");
    expect({ code, out: out.split("\n").at(-1) }).toEqual({ code: 1, out: "bot: looking it up" });
    expect(err).toContain("Error: not found");
  });

  test("exits with 1 and prints where to look when no bot handles the event", async () => {
    const platform = await runPlatform();
    const { code, out, err } = await trigger(platform, "like", "--wait", "--timeout", "1");
    expect({ code, out }).toEqual({ code: 1, out: "like evt_000000000001" });
    expect(err).toContain("within 1 s");
  });
});

describe("--json", () => {
  test("prints one object with the events, and the answer with --wait", async () => {
    const platform = await runPlatform();
    await runBot(platform, (bot) => void bot.on("dm.message", (ctx) => ctx.reply("yes")));
    const args = ["trigger", "dm.message", "--text", "hi", "--wait", "--json"];
    const { url, controlToken } = platform;
    const env = { SERVICE_BASE_URL: url, SERVICE_CONTROL_TOKEN: controlToken };
    const { out } = await runCommand(args, { env });
    expect(JSON.parse(out)).toMatchObject({
      events: [{ type: "dm.message", payload: { excerpt: "hi" } }],
      outcome: "answered",
      answer: { text: "yes" },
      answers: [{ text: "yes" }],
    });
  });

  test("prints what the platform refused, with its code", async () => {
    const platform = await runPlatform();
    const { code, out } = await trigger(platform, "comment", "--post", "p_99", "--json");
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 1,
      error: { code: "NOT_FOUND", message: expect.stringContaining("p_99") },
    });
  });

  test("prints wrong usage as well", async () => {
    const { code, out, err } = await runCommand(["trigger", "follow", "--fast", "--json"]);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 2, error: { code: "USAGE" } });
    expect(err).toContain("--fast");
  });
});

describe("without a platform", () => {
  test("it prints how to start one", async () => {
    const platform = await runPlatform();
    await platform.stop();
    const { code, out, err } = await trigger(platform, "follow", "--json");
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 1, error: { code: "UNREACHABLE" } });
    expect(err).toContain(`platform --port ${new URL(platform.url).port}`);
    expect(err).toContain("npm run dev");
  });

  test("it reports that another program responds", async () => {
    const { url } = await listenUntilEnd(createServer((_, response) => response.end("hello")));
    const { code, err } = await trigger({ url }, "follow");
    expect(code).toBe(1);
    expect(err).toContain(`${url} answers 200.`);
  });
});

async function runPollingBot(platform: Platform): Promise<void> {
  const options = { ...botOptions(platform), delivery: "polling", pollIntervalMs: 250 } as const;
  const bot = new Bot({ ...options, logger: logSink([]).log });
  bot.on("dm.message", (ctx) => ctx.reply("polled"));
  await bot.start({ standalone: false });
  onTestFinished(() => bot.stop());
}
