import { expect, test } from "vitest";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { serviceBotEnds } from "./cli.ts";

const environment = (platform: { url: string; apiKey: string; webhookSecret: string }) => ({
  SERVICE_BASE_URL: platform.url,
  SERVICE_API_KEY: platform.apiKey,
  SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
});

test("all is well: every line is ok, exit code 0", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, () => undefined);
  const env = { ...environment(platform), PORT: new URL(bot.url ?? "").port };
  const { code, out } = await serviceBotEnds(["doctor"], { cwd: temporaryFolder(), env });
  expect(out.split("\n").every((line) => line.startsWith("ok"))).toBe(true);
  expect(out).toContain("@bot");
  expect(code).toBe(0);
});

test("a wrong configuration is told by variable, exit code 1", async () => {
  const { code, out } = await serviceBotEnds(["doctor"], { cwd: temporaryFolder() });
  expect(code).toBe(1);
  expect(out).toContain("FAIL SERVICE_BASE_URL is missing");
  expect(out).toContain("FAIL SERVICE_API_KEY is missing");
});

test("a wrong token is told with its remedy", async () => {
  const platform = await runPlatform();
  const env = { ...environment(platform), SERVICE_API_KEY: "sbk_wrong" };
  const { code, out } = await serviceBotEnds(["doctor"], { cwd: temporaryFolder(), env });
  expect(code).toBe(1);
  expect(out).toMatch(/FAIL .*401.*SERVICE_API_KEY/);
});

test("a token without a reading scope is told", async () => {
  const platform = await runPlatform();
  const { apiKey } = platform.control.createToken(["comments:write"]);
  const env = { ...environment(platform), SERVICE_API_KEY: apiKey };
  const { code, out } = await serviceBotEnds(["doctor"], { cwd: temporaryFolder(), env });
  expect(code).toBe(1);
  expect(out).toContain("scope");
});

test("a bot that is not running is a note, not a failure", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, () => undefined);
  const { port } = new URL(bot.url ?? "");
  await bot.stop();
  const env = { ...environment(platform), PORT: port };
  const { code, out } = await serviceBotEnds(["doctor"], { cwd: temporaryFolder(), env });
  expect(code).toBe(0);
  expect(out).toContain("note nothing listens");
});
