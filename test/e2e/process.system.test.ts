import { describe, expect, test } from "vitest";
import { runPlatform } from "../support/running-bot.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { sqlite } from "../support/world/stores.ts";

describe("a bot that owns its process", () => {
  test("exits with code 2 and one message when its configuration is wrong", async () => {
    const nowhere = { url: "", apiKey: "", webhookSecret: "not-a-secret-of-ours" };
    const bot = new BotProcess(nowhere, { env: { PORT: "80 80" } });
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
    const store = sqlite();
    const bot = await BotProcess.start(platform, { store });
    const second = new BotProcess(platform, { store });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr.join("\n")).toContain("postgres://");
    expect(await bot.end("SIGTERM")).toEqual({ code: 0, signal: null });
    await bot.message("stopped");
  });
});
