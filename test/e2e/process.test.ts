import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Platform } from "../../src/platform/index.ts";
import { TestProcess } from "../support/process.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BOT = fileURLToPath(new URL("./answering-bot.ts", import.meta.url));

function startBot(platform: Platform, folder: string, port = "0"): TestProcess {
  return new TestProcess([BOT], {
    bareEnv: true,
    env: {
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      DATABASE_URL: `file:${join(folder, "bot.db")}`,
      PORT: port,
      POLL_INTERVAL_MS: "50",
      AUDIT_INTERVAL_MS: "100",
    },
  });
}

describe("a bot that owns its process", () => {
  test("ends with exit code 0 on SIGTERM", async () => {
    const bot = startBot(await runPlatform(), temporaryFolder());
    await bot.message("ready");
    bot.kill("SIGTERM");
    expect(await bot.exited).toEqual({ code: 0, signal: null });
    await bot.message("stopped");
  });

  test("ends with exit code 2 and one message when its configuration is wrong", async () => {
    const bot = new TestProcess([BOT], {
      bareEnv: true,
      env: { SERVICE_WEBHOOK_SECRET: "not-a-secret-of-ours", PORT: "80 80" },
    });
    expect(await bot.exited).toEqual({ code: 2, signal: null });
    const text = bot.stderr.join("\n");
    for (const name of ["SERVICE_BASE_URL", "SERVICE_API_KEY", "SERVICE_WEBHOOK_SECRET", "PORT"]) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain("not-a-secret-of-ours");
    expect(text).not.toContain("    at ");
    expect(bot.stdout).toEqual([]);
  });

  test("ends with exit code 1 and the way out when its file is in use", {
    timeout: 30_000,
  }, async () => {
    const platform = await runPlatform();
    const folder = temporaryFolder();
    const bot = startBot(platform, folder);
    await bot.message("ready");
    const second = startBot(platform, folder);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr.join("\n")).toContain("postgres://");
  });
});

test("kill -9 at random moments: nothing acknowledged is lost, nothing is said twice, order is kept", {
  timeout: 60_000,
}, async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = mulberry32(seed);
  const platform = await runPlatform({ retryIntervalMs: 100, disableAfter: 1_000_000 });
  const folder = temporaryFolder();
  const people = ["ada", "ben", "cleo", "dora"];
  const conversations = new Set<string>();
  let written = 0;
  const write = (count: number) => {
    for (let i = 0; i < count; i++) {
      const from = people[Math.floor(random() * people.length)] ?? "ada";
      const text = `message ${written++}`;
      const { conversationId = "" } = platform.control.act({ type: "dm.message", from, text });
      conversations.add(conversationId);
    }
  };

  let bot = startBot(platform, folder);
  const { url } = await bot.message("ready");
  const { port } = new URL(String(url));
  platform.control.saveWebhook({ url: `${url}/webhook` });
  for (let kills = 0; kills < 5; kills++) {
    write(20);
    const after = Math.floor(random() * 25);
    let answers = 0;
    // Somewhere in the middle of answering, for a different somewhere each time.
    await platform.waitFor("api", ({ created }) => created !== undefined && answers++ >= after, {
      after: platform.control.state().timelineSeq,
    });
    bot.kill("SIGKILL");
    expect(await bot.exited).toMatchObject({ signal: "SIGKILL" });
    bot = startBot(platform, folder, port);
    await bot.message("ready");
  }

  const said = () =>
    [...conversations].flatMap((id) => platform.control.messages(id).filter((m) => m.fromBot));
  while (said().length < written * 2) {
    await platform.waitFor("api", ({ created }) => created !== undefined, {
      after: platform.control.state().timelineSeq,
    });
  }
  for (const id of conversations) {
    const messages = platform.control.messages(id);
    const expected = messages
      .filter(({ fromBot }) => !fromBot)
      .flatMap(({ text }) => [`first answer to ${text}`, `second answer to ${text}`]);
    const actual = messages.filter(({ fromBot }) => fromBot).map(({ text }) => text);
    expect(actual, `seed ${seed}`).toEqual(expected);
  }
});

/** A small generator that can be seeded, so that a failure can be run again with SEED=… */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
