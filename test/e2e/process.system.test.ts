import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Platform } from "../faces/platform.ts";
import { TestProcess } from "../support/process.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BOT = fileURLToPath(new URL("./answering-bot.ts", import.meta.url));

function startBot(platform: Platform, folder: string): TestProcess {
  return new TestProcess([BOT], {
    bareEnv: true,
    env: {
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      DATABASE_URL: `file:${join(folder, "bot.db")}`,
      PORT: "0",
      POLL_INTERVAL_MS: "50",
      AUDIT_INTERVAL_MS: "100",
    },
  });
}

describe("a bot that owns its process", () => {
  test("exits with code 2 and one message when its configuration is wrong", async () => {
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

  test("exits with code 1 and the remedy when its file is in use, while the first bot exits with 0 on SIGTERM", async () => {
    const platform = await runPlatform();
    const folder = temporaryFolder();
    const bot = startBot(platform, folder);
    await bot.message("ready");
    const second = startBot(platform, folder);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr.join("\n")).toContain("postgres://");
    bot.kill("SIGTERM");
    expect(await bot.exited).toEqual({ code: 0, signal: null });
    await bot.message("stopped");
  });
});
