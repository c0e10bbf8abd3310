import { expect, test } from "vitest";
import { type LogRecord, logSink } from "./support/log.ts";
import { runBot, runPlatform } from "./support/running-bot.ts";

async function warnings(
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly LogRecord[]> {
  const platform = await runPlatform();
  const sink = logSink();
  await runBot(platform, (bot) => bot.on("follow", () => undefined), {
    baseUrl,
    env,
    logger: sink.log,
    fetch: (url, init) => fetch(String(url).replace(baseUrl, platform.url), init),
  });
  return sink.records.filter(({ level }) => level === "warn");
}

test.each(["http://platform.example", "http://platform:4400", "http://10.0.0.5:4400"])(
  "a bot warns once on startup if its token leaves the machine over plain http: %s",
  async (origin) => {
    expect(await warnings(origin)).toMatchObject([{ platform: origin }]);
  },
);

test.each(["https://platform.example", "http://127.0.0.1:4401", "http://localhost:4401"])(
  "over https, and on this machine, there is nothing to warn of: %s",
  async (origin) => {
    expect(await warnings(origin)).toEqual([]);
  },
);

test("a variable that is no longer read stops no bot, and is warned of once at its start", async () => {
  expect(await warnings("https://platform.example", { LOG_SAMPLING: "on" })).toMatchObject([
    { variable: "LOG_SAMPLING", remedy: expect.stringContaining("Remove it") },
  ]);
});
