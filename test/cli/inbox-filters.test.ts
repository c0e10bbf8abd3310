import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { filterIn, progressOn, readArguments, UsageError } from "../faces/cli.ts";
import { attachInbox, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand, startCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

const HOUR = 3_600_000;

let folder: string;

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder });

/**
 * Creates 25 dead letters, one per minute. The last one ended an hour ago. The odd-numbered ones arrived by polling.
 */
const putInbox = inboxTemplate(async (file) => {
  const clock = new ManualClock(Date.now() - HOUR - 25 * 60_000);
  const made = new SqliteInbox({ file, clock });
  for (let n = 0; n < 25; n++) {
    const id = `evt_${String(n).padStart(2, "0")}`;
    await made.put([message(id, id)], n % 2 === 0 ? "webhook" : "poll");
    const [claim] = await made.claim(1, 60_000);
    const error = n < 3 ? "ApiError NOT_FOUND: no such post" : "TypeError: boom";
    await made.bury(first([claim].filter((one) => one !== undefined)), error);
    await clock.advance(60_000);
  }
  await made.close();
});

beforeEach(() => {
  folder = temporaryFolder();
});

describe("filters", () => {
  beforeEach(() => putInbox(join(folder, "data", "bot.db")));

  test("list keeps to them, and so does the command for the next page", async () => {
    const { out } = await inbox("list", "--code", "NOT_FOUND", "--source", "webhook");
    expect(out).toMatch(/^evt_02 /m);
    expect(out).toMatch(/^evt_00 /m);
    expect(out).not.toMatch(/^evt_01 /m);
    const flags = ["--error", "no such post", "--since", "3h", "--limit", "2"];
    const page = (await inbox("list", ...flags)).out;
    const [, more = ""] = /more: npx service-bot inbox (.*)/.exec(page) ?? [];
    expect(more).toContain("--error 'no such post' --since 20");
    const words = [...more.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? b ?? "");
    expect((await inbox(...words)).out).toMatch(/^evt_00 /m);
    expect((await inbox("list", "--error", "nope", "--until", "2026-01-01")).out).toContain(
      "No dead letters for --error nope --until 2026-01-01T00:00:00.000Z.",
    );
  });

  test("retry and discard keep to them, and to the first so many", async () => {
    const { out } = await inbox("retry", "--code", "NOT_FOUND", "--json");
    expect(JSON.parse(out)).toEqual({ changed: 3, skipped: 0 });
    const args = ["--until", "70m", "--limit", "2", "--reason", "old"];
    expect((await inbox("discard", "--source", "poll", ...args)).out).toContain("2 dead letters");
    const { events } = JSON.parse((await inbox("list", "--state", "discarded", "--json")).out);
    expect(events.map(({ id }: { id: string }) => id).sort()).toEqual(["evt_03", "evt_05"]);
  });

  test("--dry-run shows how many and which, and changes nothing", async () => {
    const before = (await inbox("--json")).out;
    const { code, out } = await inbox("retry", "--all", "--dry-run");
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line.startsWith("evt_"))).toHaveLength(20);
    expect(out).toMatch(/\nand 5 more\n\n.* 25 dead letters.*$/);
    const some = ["--all", "--limit", "2", "--reason", "x", "--dry-run", "--json"];
    expect(JSON.parse((await inbox("discard", ...some)).out)).toEqual({
      ...{ dryRun: true, chosen: 2, ids: ["evt_00", "evt_01"] },
    });
    expect((await inbox("retry", "evt_07", "nope", "--dry-run")).out).toMatch(/^evt_07 /m);
    expect((await inbox("--json")).out).toBe(before);
  });

  test("an invalid or ambiguous filter ends with 2", async () => {
    const wrong: [string[], string][] = [
      [["list", "--since", "yesterday"], "--since takes"],
      [["list", "--source", "mail"], "webhook or poll"],
      [["retry", "evt_1", "--limit", "3"], "not both"],
      [["retry", "--limit", "3"], "--all"],
    ];
    for (const [args, names] of wrong) {
      const { code, out, err } = await inbox(...args);
      expect({ args, code, out }).toEqual({ args, code: 2, out: "" });
      expect(err.split("Usage:")[0]).toContain(names);
    }
  });
});

test("Ctrl-C ends a retry between two batches and prints how many events are left", async () => {
  const file = join(folder, "data", "bot.db");
  const made = new SqliteInbox({ file });
  const bad = Array.from({ length: 2_000 }, (_, n) => ({ ...message(`x_${n}`), unusable: "bad" }));
  await made.put(bad, "webhook");
  await made.close();
  const attached = attachInbox(file);
  onTestFinished(() => attached.close());
  const command = startCommand(["inbox", "retry", "--error", "bad"], { cwd: folder });
  while ((await attached.admin.stats()).pending === 0) await setImmediate();
  const code = await command.stop("SIGINT");
  const { pending, dead } = await attached.admin.stats();
  expect(code).toBe(1);
  expect(pending).toBeLessThan(2_000);
  expect(pending % 100).toBe(0);
  expect(command.stdout).toEqual([expect.stringContaining(`${pending} dead letters`)]);
  expect(command.stderr).toEqual([expect.stringContaining(`${dead.toLocaleString("en-US")} left`)]);
});

describe("a time", () => {
  const NOW = Date.parse("2026-11-20T16:00:00Z");
  const flags = { since: { type: "string" } } as const;
  const since = (text: string) =>
    filterIn(readArguments(["--since", text], flags, { max: 0 }).flags, NOW).since;

  test.each([
    ["90s", NOW - 90_000],
    ["30m", NOW - 30 * 60_000],
    ["2h", NOW - 2 * HOUR],
    ["7d", NOW - 7 * 24 * HOUR],
    ["2026-11-20", Date.parse("2026-11-20T00:00:00Z")],
    ["2026-11-20T12:30", Date.parse("2026-11-20T12:30:00Z")],
    ["2026-11-20 12:30", Date.parse("2026-11-20T12:30:00Z")],
    ["2026-11-20T12:30:15.5+02:00", Date.parse("2026-11-20T10:30:15.500Z")],
  ])("%s is read", (text, at) => {
    expect(since(text)).toBe(at);
  });

  test.each(["", "2", "2 h", "-2h", "tomorrow", "2026-13-01", "2026-11-20T25:00Z", "1e3s"])(
    '"%s" is none',
    (text) => {
      expect(() => since(text)).toThrow(UsageError);
    },
  );
});

test("progress is shown in one line, and only on a terminal", () => {
  const written: string[] = [];
  const stream = (isTTY: boolean) =>
    ({ isTTY, write: (text: string) => written.push(text) }) as unknown as NodeJS.WriteStream;
  const none = progressOn({}, stream(false));
  none.show("retried", 1_000, 2_000);
  none.end();
  expect(written).toEqual([]);
  const line = progressOn({}, stream(true));
  line.show("retried", 1_000, 2_000);
  line.show("retried", 1_001, 2_000);
  line.end();
  expect(written).toEqual(["\r\u001b[Kretried: 1,000 of 2,000", "\r\u001b[K"]);
});
