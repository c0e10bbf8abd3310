import { expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { aboutDisk, findingLines } from "../../faces/cli.ts";
import { ephemeralDiskOf } from "../../faces/inbox-sqlite.ts";
import { runBot, runPlatform } from "../../support/running-bot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { runCommand } from "../command.ts";
import { access, examine } from "./examine.ts";

test("without problems every line is ok, exit code 0", async () => {
  const platform = await runPlatform();
  const { bot } = await runBot(platform, () => undefined);
  const env = { ...access(platform), PORT: new URL(bot.url ?? "").port };
  const cwd = temporaryFolder();
  const { code, out } = await runCommand(["doctor"], { cwd, env });
  const lines = out.split("\n");
  const others = lines.filter((line) => !line.startsWith("ok   "));
  expect(others).toEqual([
    expect.stringMatching(/^note this folder has no \.env/),
    expect.stringMatching(/^ {5}→ Copy \.env\.example/),
    // The test's folder may be on an ephemeral disk, which the doctor reports.
    ...aboutDisk("data/bot.db", ephemeralDiskOf(cwd)).flatMap(findingLines),
  ]);
  expect(out).toContain("@bot");
  expect(code).toBe(0);
});

test("each finding is reported with its remedy, and as JSON in the same order", async () => {
  const cwd = temporaryFolder();
  const text = await runCommand(["doctor"], { cwd });
  const { code, findings } = await examine({}, { cwd });
  expect(code).toBe(1);
  expect(text.code).toBe(1);
  expect(text.out).toContain("FAIL SERVICE_API_KEY is missing\n     → Add it to .env: ");
  expect(text.out.split("\n").filter((line) => !line.startsWith("     "))).toHaveLength(
    findings.length,
  );
  for (const { level, remedy } of findings) expect(remedy === undefined).toBe(level === "ok");
});

test("an examination writes nothing, and every attempt to write is refused", async () => {
  const platform = await runPlatform();
  const { url, apiKey } = platform;
  const client = new Client({ baseUrl: url, apiKey });
  const before = await client.feed();
  const writes: (number | null)[] = [];
  platform.onTimeline((entry) => {
    if (entry.kind === "api" && entry.method === "POST") writes.push(entry.status);
  });
  await examine(access(platform));
  expect((await client.feed()).items).toEqual(before.items);
  expect(writes.sort()).toEqual([400, 404]);
});

test("an invalid address is wrong usage", async () => {
  const { code, err } = await runCommand(["doctor", "--webhook", "bot.example.org"], {
    cwd: temporaryFolder(),
  });
  expect(code).toBe(2);
  expect(err).toContain("such as https://bot.example.org/webhook");
});
