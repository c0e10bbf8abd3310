import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { readExport } from "../faces/cli.ts";
import { messageOf } from "../faces/errors.ts";
import { attachInbox, markFile, SqliteInbox } from "../faces/inbox-sqlite.ts";
import { fillInbox } from "../inbox/copy/whole-inbox.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { botOptions, runBot, runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";
import { inboxTemplate } from "./inbox-template.ts";

const putInbox = inboxTemplate(fillInbox);

let folder: string;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, "data", "bot.db");
});

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(["inbox", ...args], { cwd: folder, env });
const inbox = (...args: readonly string[]) => run(args);

/** An empty inbox elsewhere, by the environment of its bot. */
async function elsewhere(): Promise<Record<string, string>> {
  const other = join(folder, "other.db");
  await new SqliteInbox({ file: other }).close();
  return { DATABASE_URL: `file:${other}` };
}

const bodyOf = (text: string) => text.split("\n").slice(1);

describe("export", () => {
  beforeEach(() => putInbox(file));

  test("writes a header, an event on each line, and an end, on standard output", async () => {
    const { code, out, err } = await inbox("export");
    expect(code).toBe(0);
    const lines = out.split("\n").map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ format: "service-bot inbox", version: 1 });
    expect(lines.at(-1)).toEqual({ end: true, events: lines.length - 2 });
    const dead = lines.find(({ id }) => id === "dead");
    expect(dead).toMatchObject({
      state: "dead",
      lane: "dm:b",
      error: "TypeError: boom",
      body: message("dead", "b").body,
      history: [{ outcome: "dead" }],
      steps: [{ name: "step/pay", state: "open", request: '{"amount":100}' }],
    });
    expect(err).toContain(`${lines.length - 2} events`);
  });

  test("keeps to a filter", async () => {
    const { out } = await inbox("export", "--state", "dead", "--error", "boom");
    expect(bodyOf(out).map((line) => JSON.parse(line).id)).toEqual(["dead", undefined]);
  });

  test("makes a file that only its owner reads, and overwrites none", async () => {
    const { out } = await inbox("export", "--out", "letters.jsonl", "--json");
    const made = join(folder, "letters.jsonl");
    expect(JSON.parse(out)).toEqual({ events: 8, file: "letters.jsonl" });
    expect(statSync(made).mode & 0o777).toBe(0o600);
    const before = readFileSync(made);
    const { code, err } = await inbox("export", "--out", "letters.jsonl");
    expect(code).toBe(1);
    expect(err).toContain("letters.jsonl is there already");
    expect(readFileSync(made).equals(before)).toBe(true);
    const { err: nowhere } = await inbox("export", "--out", "no/such/folder");
    expect(nowhere).toMatch(/^no\/such\/folder cannot be made: ENOENT/);
  });
});

describe("import", () => {
  const exported = "letters.jsonl";

  beforeEach(async () => {
    await putInbox(file);
    await inbox("export", "--out", exported);
  });

  const contents = () => bodyOf(readFileSync(join(folder, exported), "utf8"));

  test("brings all of it, and once more nothing", async () => {
    const env = await elsewhere();
    const { code, out } = await run(["import", exported], env);
    expect({ code, lines: out.split("\n") }).toEqual({
      code: 0,
      lines: ["imported: 8 events", expect.stringMatching(/^pending: 4 /)],
    });
    expect(JSON.parse((await run(["import", exported, "--json"], env)).out)).toEqual({
      ...{ imported: 0, known: 8, pending: 0, whole: true },
    });
    expect(bodyOf((await run(["export"], env)).out)).toEqual(contents().slice(0, -1));
  });

  test("--dry-run counts what would come, and brings nothing", async () => {
    const env = await elsewhere();
    const { out } = await run(["import", exported, "--dry-run"], env);
    expect(out).toMatch(/8 events.*\npending.* 4$/);
    expect(JSON.parse((await inbox("import", exported, "--dry-run", "--json")).out)).toEqual({
      ...{ dryRun: true, events: 8, known: 8, whole: true },
    });
    expect(JSON.parse((await run(["--json"], env)).out)).toMatchObject({ pending: 0, dead: 0 });
  });

  test("--as pending runs dead letters again, and nothing that has ended well", async () => {
    const env = await elsewhere();
    await run(["import", exported, "--as", "pending"], env);
    const { out } = await run(["--json"], env);
    expect(JSON.parse(out)).toMatchObject({ pending: 6, dead: 0, done: 1, discarded: 1 });
    const { out: dead } = await run(["show", "dead", "--json"], env);
    expect(JSON.parse(dead)).toMatchObject({ attempts: 0, history: [{ outcome: "dead" }] });
  });

  test("names the line that is not as it must be, and then brings nothing", async () => {
    const env = await elsewhere();
    const text = readFileSync(join(folder, exported), "utf8");
    const [header = "", one = "", two = "", ...rest] = text.split("\n");
    const event = JSON.parse(two);
    const bad = join(folder, "bad.jsonl");
    const problemOf = async (lines: string, encoding: BufferEncoding = "utf8") => {
      writeFileSync(bad, lines, encoding);
      const read = async () => {
        for await (const _ of readExport(bad, "as-is"));
      };
      return await read().then(() => "none", messageOf);
    };
    const third = (line: string, encoding?: BufferEncoding) =>
      problemOf([header, one, line, ...rest].join("\n"), encoding);
    const wrong = (change: object) => third(JSON.stringify({ ...event, ...change }));
    expect(await wrong({})).toBe("none");
    expect(await third("{")).toMatch(/^line 3: it is no JSON/);
    expect(await third("[]")).toMatch(/^line 3: /);
    expect(await wrong({ state: "alive" })).toMatch(/^line 3: "state": /);
    expect(await wrong({ attempts: -1 })).toMatch(/^line 3: "attempts": /);
    const long = "é".repeat(257);
    expect(await wrong({ id: long })).toMatch(/^line 3: "id": .*512 bytes/);
    expect(await wrong({ state: "pending", endedAt: undefined, body: undefined })).toMatch(
      /"body"/,
    );
    expect(await wrong({ state: "pending", endedAt: 1 })).toMatch(/no "endedAt"/);
    expect(await wrong({ state: "done", endedAt: undefined })).toMatch(/"endedAt"/);
    const step = { name: "s", state: "open", request: "", startedAt: 1 };
    expect(await wrong({ steps: [step, step] })).toMatch(/two of its steps have one name/);
    expect(await third('{"id":"\xff"}', "latin1")).toBe("line 3: it is not UTF-8");
    expect(await problemOf([one, two].join("\n"))).toMatch(/^line 1: it is no header/);
    expect(await problemOf(header.replace('"version":1', '"version":2'))).toMatch(/2.*update it/);
    const marked = (restored: unknown) =>
      problemOf([JSON.stringify({ ...JSON.parse(header), restored }), one].join("\n"));
    expect(await marked({ at: 1, assumeAbsent: false })).toBe("none");
    expect(await marked({ at: "soon" })).toMatch(/^line 1: what it says in "restored"/);
    expect(await problemOf("")).toMatch(/is empty\.$/);

    writeFileSync(bad, [header, one, two, "{"].join("\n"));
    const { code, out, err } = await run(["import", "bad.jsonl"], env);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^line 4: it is no JSON.*$/);
    expect((await run(["import", "/dev/null"], env)).err).toContain("is no file");
    expect(JSON.parse((await run(["--json"], env)).out)).toMatchObject({ pending: 0, dead: 0 });
  });

  test("reports a missing end, and keeps line separators of JSON in a text", async () => {
    const env = await elsewhere();
    const lines = readFileSync(join(folder, exported), "utf8").split("\n").slice(0, 3);
    const event = { ...JSON.parse(lines[2] ?? ""), error: "a\u2028b\u2029c\u0085d" };
    // As other programs write them: not escaped.
    writeFileSync(
      join(folder, "cut.jsonl"),
      [...lines.slice(0, 2), JSON.stringify(event)].join("\n"),
    );
    const { code, out, err } = await run(["import", "cut.jsonl"], env);
    expect({ code, out: out.split("\n")[0] }).toEqual({ code: 0, out: "imported: 2 events" });
    expect(err).toContain("cut short");
    const attached = attachInbox(join(folder, "other.db"));
    onTestFinished(() => attached.close());
    expect((await attached.admin.show(event.id)).error).toBe(event.error);
  });
});

test("what was said before an export is not said again after an import", async () => {
  const platform = await runPlatform();
  const died = Promise.withResolvers<void>();
  const { bot } = await runBot(
    platform,
    (made) => {
      made.on("dm.message", async (ctx) => {
        await ctx.reply("I have heard you");
        throw new Error("boom");
      });
      made.onError(() => died.resolve());
    },
    { ...botOptions(platform), databaseUrl: `file:${file}`, maxAttempts: 1 },
  );
  const said = platform.control.act({ type: "dm.message", from: "ada", text: "hello" });
  await died.promise;
  await bot.idle();
  await bot.stop();
  const conversation = String(Object(first(said.events).payload)["conversationId"]);
  const replies = () => platform.control.messages(conversation).filter(({ fromBot }) => fromBot);
  expect(replies()).toHaveLength(1);
  await inbox("export", "--state", "dead", "--out", "letters.jsonl");

  const there = await elsewhere();
  const { out } = await run(["import", "letters.jsonl", "--as", "pending"], there);
  expect(out).toContain("pending: 1 of them");
  const ended = Promise.withResolvers<string>();
  const second = await runBot(
    platform,
    (made) =>
      void made.on("dm.message", async (ctx) => {
        await ctx.reply("I have heard you");
        ended.resolve(ctx.event.id);
      }),
    { ...botOptions(platform), databaseUrl: first([there["DATABASE_URL"] ?? ""]) },
  );
  await ended.promise;
  await second.bot.idle();
  expect(replies()).toHaveLength(1);
  expect(existsSync(file)).toBe(true);
});

test("what was in doubt after a restore is in doubt after an import, and is not answered in other words", async () => {
  const platform = await runPlatform();
  const start = async (databaseUrl: string, answer: string) => {
    const register = (made: Bot) => void made.on("dm.message", (ctx) => ctx.reply(answer));
    return (await runBot(platform, register, { databaseUrl })).bot;
  };
  const lost = await start(`file:${file}`, "before the restore");
  const event = first(platform.control.act({ type: "dm.message", from: "ada" }).events);
  await platform.waitFor("run", ({ outcome }) => outcome === "done");
  await lost.stop();

  // A bot leaves the event so if it finds the answer and its inbox is older.
  const restored = join(folder, "restored.db");
  const inbox = new SqliteInbox({ file: restored });
  const conversation = String(Object(event.payload)["conversationId"]);
  const lane = message(event.id, conversation);
  await inbox.put([{ ...lane, body: JSON.stringify(event) }], "poll");
  await inbox.bury(first(await inbox.claim(1, 60_000)), "in doubt");
  await inbox.close();
  markFile(restored, { at: Date.now() - 60_000, readAt: Date.now(), assumeAbsent: false });
  const letters = ["export", "--state", "dead", "--out", "letters.jsonl"];
  await run(letters, { DATABASE_URL: `file:${restored}` });

  const there = await elsewhere();
  const databaseUrl = first([there["DATABASE_URL"] ?? ""]);
  const asPending = ["import", "letters.jsonl", "--as", "pending"];
  const busy = await start(databaseUrl, "while it runs");
  expect(await run(asPending, there)).toMatchObject({
    code: 1,
    err: expect.stringContaining("stop it, import, and start it again"),
  });
  await busy.stop();
  const importedAt = Date.now();
  expect((await run(asPending, there)).out).toContain("in doubt: up to 1");
  await start(databaseUrl, "after the import");
  const { outcome, error } = await platform.waitFor(
    "run",
    ({ at }) => Date.parse(at) >= importedAt,
  );
  expect(outcome).toBe("released");
  expect(error?.message).toContain("may belong to another event");
  const answers = platform.control.messages(conversation).filter(({ fromBot }) => fromBot);
  expect(answers).toMatchObject([{ text: "before the restore" }]);
});
