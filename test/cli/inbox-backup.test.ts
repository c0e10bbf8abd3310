import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { RESTORED, readRestoreMark } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { messages } from "../support/inbox-events.ts";
import { runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";

let folder: string;
let file: string;
let env: Record<string, string>;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
  mkdirSync(join(folder, "data"));
  env = { DATABASE_URL: "file:data/bot.db" };
});

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder, env });

async function fill(): Promise<void> {
  const made = new SqliteInbox({ file });
  await made.put(messages("1", "2"), "webhook");
  await made.close();
}

async function markOf(place: string) {
  const opened = new SqliteInbox({ file: place });
  const position = await opened.cursor(RESTORED);
  await opened.close();
  return readRestoreMark(position);
}

describe("service-bot inbox backup and restore", () => {
  test("take an inbox from a bot that runs to another place, with what to do next", async () => {
    const platform = await runPlatform();
    const { bot } = await runBot(platform, () => undefined, { databaseUrl: `file:${file}` });
    await bot.idle();
    const taken = await inbox("backup", "1.db");
    expect(taken).toMatchObject({ code: 0, err: "" });
    expect(taken.out).toMatch(
      /^backed up and checked in \d+\.\d s: .*1\.db\n0 events, 0 of them pending, 0\.1 MB, as of 2/,
    );
    const refused = await inbox("restore", "1.db");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("Stop it first");
    env = { DATABASE_URL: "file:other/bot.db" };
    const restored = await inbox("restore", "1.db");
    expect(restored).toMatchObject({ code: 0, err: "" });
    expect(restored.out).toMatch(/^restored: .*other\/bot\.db, 0 events.*\nStart the bot\./);
    expect(await markOf(join(folder, "other", "bot.db"))).toMatchObject({ at: expect.any(Number) });
  });

  test("--json is one line each", async () => {
    await fill();
    const taken = JSON.parse((await inbox("backup", "1.db", "--json")).out);
    expect(taken).toMatchObject({
      ...{ file: join(folder, "1.db"), events: 2, pending: 2, ms: expect.any(Number) },
      takenAt: expect.any(Number),
    });
    const { out } = await inbox("restore", "1.db", "--move-old", "--json");
    const report = JSON.parse(out);
    expect(report).toMatchObject({ place: file, events: 2, pending: 2, at: expect.any(Number) });
    expect(existsSync(report.movedTo)).toBe(true);
  });

  test("--ended is in the mark", async () => {
    await fill();
    const ended = new Date(Date.now() - 3_600_000).toISOString();
    const flags = ["--in-place", "--ended", ended];
    expect(await inbox("restore", ...flags)).toMatchObject({ code: 0 });
    expect(await markOf(file)).toMatchObject({ until: Date.parse(ended) + 300_000 });
  });

  test("remove nothing that is in the way, and say so", async () => {
    await fill();
    await inbox("backup", "1.db");
    expect(await inbox("backup", "1.db")).toMatchObject({ code: 1 });
    const { code, err } = await inbox("restore", "1.db");
    expect(code).toBe(1);
    expect(err).toContain("--move-old");
  });

  test.each([
    [["backup"], "Name the file"],
    [["restore"], "--in-place"],
    [["restore", "1.db", "--assume-absent"], "inbox retry --all --assume absent"],
    [["restore", "1.db", "--in-place"], "--in-place"],
    [["restore", "--in-place", "--move-old"], "--move-old"],
    [["restore", "1.db", "--ended", "yesterday"], "2026-03-01T09:30:00Z"],
    [["restore", "1.db", "--ended", "2026-03-01T09:30:00"], "with its zone"],
    [["restore", "1.db", "--ended", "2126-03-01T09:30:00Z"], "past time"],
  ])("%j is wrong usage", async (args, words) => {
    const { code, err } = await inbox(...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});
