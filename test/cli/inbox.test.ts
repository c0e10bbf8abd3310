import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { botOptions, runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

const LEASE = 60_000;

let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
});

const inbox = (...args: readonly string[]) => runCommand(["inbox", ...args], { cwd: folder });

/**
 * Creates the inbox of a stopped bot. evt_1 and evt_2 failed three minutes ago, evt_2 inside a step. evt_3 is pending,
 * and evt_4 is done.
 */
const putInbox = inboxTemplate(async (file) => {
  const clock = new ManualClock(Date.now() - 3 * 60_000 - 500);
  const made = new SqliteInbox({ file, clock });
  await made.put([message("evt_1", "a"), message("evt_4", "d")], "webhook");
  await made.put([{ ...message("evt_2", "b"), type: "mention" }], "poll");
  for (const claim of await made.claim(10, LEASE)) {
    if (claim.id === "evt_4") await made.complete(claim);
    if (claim.id === "evt_1") await made.bury(claim, "TypeError: boom");
    if (claim.id !== "evt_2") continue;
    await made.beginStep(claim, "step/pay", '{"amount":100}');
    await made.bury(claim, "ServiceBotError: uncertain");
  }
  await made.put([message("evt_3", "c")], "webhook");
  await made.close();
});

async function stateOf(id: string): Promise<unknown> {
  const { out } = await inbox("show", id, "--json");
  return JSON.parse(out).state;
}

describe("service-bot inbox", () => {
  beforeEach(() => putInbox(file));

  test("without an action counts events and prints whether the bot is running", async () => {
    const { code, out } = await inbox();
    expect(code).toBe(0);
    expect(out).toMatch(
      /^pending +1 +oldest 3 min ago\ndead +2 +dm\.message 1, mention 1\ndone +1\n/,
    );
    expect(out).toContain("the bot is not running");
    expect(out).toContain("service-bot inbox list");
    const { out: json } = await inbox("stats", "--json");
    expect(JSON.parse(json)).toMatchObject({
      pending: 1,
      dead: 2,
      done: 1,
      discarded: 0,
      deadByType: { "dm.message": 1, mention: 1 },
      running: false,
    });
    expect((await inbox("--json")).out).toBe(json);
  });

  test("list shows the dead letters in columns, what to do, and which other commands there are", async () => {
    const { code, out } = await inbox("list");
    expect(code).toBe(0);
    const [head, ...lines] = out.split("\n");
    const row = first(lines.filter((line) => line.startsWith("evt_1")));
    expect(row.split(/ {2,}/)).toEqual([
      "evt_1",
      "dm.message",
      "dm:a",
      "1",
      "3 min ago",
      "TypeError: boom",
    ]);
    expect(row.indexOf("TypeError")).toBe(head?.indexOf("ERROR"));
    expect(out).not.toContain("evt_3");
    expect(out).toMatch(/service-bot inbox show evt_\d/);
    expect(out).toContain("1 pending, 1 done, 0 discarded");
  });

  test("list keeps to the state, type and lane asked for, and goes on where it stopped", async () => {
    expect((await inbox("list", "--state", "pending")).out).toContain("evt_3");
    expect((await inbox("list", "--type", "mention")).out).not.toContain("evt_1");
    expect((await inbox("list", "--lane", "dm:zzz")).out).toContain(
      "No dead letters for --lane dm:zzz.",
    );
    const all = (await inbox("list", "--state", "all", "--limit", "3")).out;
    expect(all).toMatch(/STATE/);
    expect(all).not.toContain("evt_1 ");
    const [, more = ""] = /more: npx service-bot inbox (.*)/.exec(all) ?? [];
    const rest = (await inbox(...more.split(" "))).out;
    expect(rest).toContain("evt_1");
    expect(rest).not.toContain("evt_3");
  });

  test("list --json is one line with everything about each event", async () => {
    const { out } = await inbox("list", "--json", "--limit", "1");
    const page = JSON.parse(out);
    expect(page.events).toHaveLength(1);
    const [event] = page.events;
    expect(event).toMatchObject({ state: "dead", attempts: 1, leased: false });
    expect(event).toEqual(JSON.parse((await inbox("show", event.id, "--json")).out));
    expect(JSON.parse(event.body).payload.excerpt).toBe(`text of ${event.id}`);
    expect(page.next).toBeTypeOf("string");
  });

  test("show has the content, the history, the steps, and the commands to type", async () => {
    const { code, out } = await inbox("show", "evt_1");
    expect(code).toBe(0);
    expect(out).toMatch(/^evt_1 {2}dm\.message {2}dead letter\n/);
    expect(out).toContain('"excerpt": "text of evt_1"');
    expect(out).toMatch(/1 +dead +3 min ago +TypeError: boom/);
    expect(out).toMatch(/service-bot inbox retry evt_1\n/);
    expect(out).toMatch(/service-bot inbox discard evt_1 --reason/);
    expect(out).not.toContain("--assume");
  });

  test("show of an event that stopped inside a step asks for its outcome", async () => {
    const { out } = await inbox("show", "evt_2");
    expect(out).toMatch(/step\/pay +open +3 min ago +\{"amount":100\} +unknown/);
    expect(out).toContain("service-bot inbox retry evt_2 --assume done");
    expect(out).toContain("service-bot inbox retry evt_2 --assume absent");
  });

  test("retry by id makes dead letters pending, and reports the others", async () => {
    const { code, out, err } = await inbox("retry", "evt_1", "evt_4", "nope", "evt_2");
    expect(code).toBe(1);
    expect(out).toMatch(/2 events, .*when it starts$/);
    expect(err).toMatch(/"evt_4" is done or discarded/);
    expect(err).toMatch(/no event "nope"/);
    expect(await stateOf("evt_1")).toBe("pending");
  });

  test("retry --assume settles the step", async () => {
    expect((await inbox("retry", "evt_2", "--assume", "done")).code).toBe(0);
    const { steps } = JSON.parse((await inbox("show", "evt_2", "--json")).out);
    expect(steps).toMatchObject([{ name: "step/pay", state: "done" }]);
    expect((await inbox("show", "evt_2")).out).toContain("set by hand");
  });

  test("retry by type, and retry --all, take what fits", async () => {
    expect((await inbox("retry", "--type", "mention")).out).toContain("1 dead letter,");
    const { out } = await inbox("retry", "--all", "--json");
    expect(JSON.parse(out)).toEqual({ changed: 1, skipped: 0 });
    expect((await inbox("retry", "--all")).out).toContain("No matching dead letters");
  });

  test("discard keeps the reason, and includes pending events on request", async () => {
    expect((await inbox("discard", "evt_1", "--reason", "spam")).out).toContain("1 event");
    expect((await inbox("show", "evt_1")).out).toMatch(/reason +spam/);
    const { out } = await inbox("discard", "--state", "pending", "--all", "--reason", "old");
    expect(out).toContain("1 pending event");
    expect(await stateOf("evt_2")).toBe("dead");
    expect((await inbox("list", "--state", "discarded")).out).toMatch(/REASON\n.*(spam|old)/);
  });

  test("shows control characters as escapes", async () => {
    const made = new SqliteInbox({ file });
    const odd = { ...message("evt_\u001b[31m'x", "e"), type: "a\u202eb" };
    await made.put([{ ...odd, unusable: "no \u009b2J payload" }], "poll");
    await made.close();
    const outputs = [(await inbox("list")).out, (await inbox()).out];
    for (const out of outputs) {
      for (const control of ["\u001b", "\u009b", "\u202e"]) expect(out).not.toContain(control);
    }
    expect(outputs[0]).toContain("evt_\\u001b[31m'x");
    expect(outputs[0]).toContain("inbox show 'evt_\\u001b[31m'\\''x'");
  });

  test("finds the file by DATABASE_URL, of the environment or of .env", async () => {
    const elsewhere = temporaryFolder();
    const run = (env: Record<string, string>) => runCommand(["inbox"], { cwd: elsewhere, env });
    expect((await run({ DATABASE_URL: `file:${file}` })).out).toContain("dead");
    writeFileSync(join(elsewhere, ".env"), `DATABASE_URL=file:${file}\n`);
    expect((await run({})).out).toContain("dead");
  });
});

test("while the bot runs, a dead letter is retried without a restart", async () => {
  const platform = await runPlatform();
  const died = Promise.withResolvers<void>();
  const handled = Promise.withResolvers<string>();
  let broken = true;
  const { bot } = await runBot(
    platform,
    (b) => {
      b.on("follow", (ctx) => {
        if (broken) throw new Error("boom");
        handled.resolve(ctx.event.id);
      });
      b.onError(() => died.resolve());
    },
    { ...botOptions(platform), databaseUrl: `file:${file}`, maxAttempts: 1 },
  );
  const { events } = platform.control.act({ type: "follow", from: "ada" });
  await died.promise;
  await bot.idle();
  broken = false;
  const { id } = first(events);
  expect((await inbox()).out).toContain("the bot is running");
  const { code, out } = await inbox("retry", id);
  expect(code).toBe(0);
  expect(out).toMatch(/1 event, the bot handles it now/);
  expect(await handled.promise).toBe(id);
});

describe("refused with one sentence, exit code 1", () => {
  test("where there is no inbox, and does not create one", async () => {
    const { code, out, err } = await inbox("list");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("data/bot.db");
    expect(err).not.toContain("\n");
    expect(existsSync(join(folder, "data"))).toBe(false);
  });
});

test("wrong usage ends with 2, before any file is looked for", async () => {
  const wrong: [string[], string][] = [
    [["discrad"], "discard"],
    [["list", "evt_1"], "evt_1"],
    [["list", "--state", "alive"], "discarded"],
    [["list", "--limit", "0"], "--limit"],
    [["show"], "id"],
    [["show", "a", "b"], '"b"'],
    [["retry"], "--all"],
    [["retry", "evt_1", "--all"], "not both"],
    [["retry", "evt_1", "--assume", "maybe"], "absent"],
    [["retry", "--asume", "done"], "--assume"],
    [["discard", "evt_1"], "--reason"],
    [["discard", "--all", "--reason", " "], "--reason"],
    [["discard", "--all", "--state", "done", "--reason", "x"], "pending"],
    [["discard", "evt_1", "--state", "dead", "--reason", "x"], "--state"],
  ];
  await Promise.all(
    wrong.map(async ([args, names]) => {
      const { code, out, err } = await inbox(...args);
      expect({ args, code, out }).toEqual({ args, code: 2, out: "" });
      expect(err.split("\nRun ")[0]).toContain(names);
      expect(err).toContain("inbox --help");
    }),
  );
});

test("a DATABASE_URL that cannot be used ends with 2 and its name", async () => {
  const env = { DATABASE_URL: "bot.db" };
  const { code, err } = await runCommand(["inbox"], { cwd: folder, env });
  expect(code).toBe(2);
  expect(err).toContain("DATABASE_URL");
});
