import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PackCache } from "../../scripts/pack/cache.ts";
import { root } from "../../scripts/root.ts";
import { LanguageServer } from "../support/language-server.ts";
import { typeErrors } from "../support/type-errors.ts";
import { unpack } from "./unpack.ts";

/** The packed declarations as an author sees them: words in an editor, and names in the compiler's errors. */

const TIMEOUT_MS = 120_000;

let folder: string;

beforeAll(async () => {
  // Inside the checkout, so that the compiler finds the packages that service-bot needs.
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "editor-"));
  await unpack(
    await new PackCache().packServiceBot(folder),
    join(folder, "node_modules/service-bot"),
  );
  const compilerOptions = { module: "nodenext", target: "es2024", strict: true, types: ["node"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
}, TIMEOUT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Code with one value, at whose members the test looks. `$` stands for the value. */
const values: Readonly<Record<string, string>> = {
  "a bot": "declare const bot: Bot; $bot;",
  "a router": "new Router().use((_ctx, next) => next()); const router = new Router(); $router;",
  "a client": "declare const client: Client; $client;",
  "direct messages": "declare const client: Client; $client.dms;",
  "posts and comments": "declare const client: Client; $client.posts;",
  users: "declare const client: Client; $client.users;",
  "a listing": "declare const client: Client; $client.feed();",
  "a bot under test": "const under = await testBot((options) => new Bot(options)); $under;",
  "a platform for tests": "const platform = new TestPlatform(); $platform;",
  "a clock for tests": "const clock = new ManualClock(); $clock;",
  "the inbox": "declare const bot: Bot; $bot.inbox;",
  "an error of the platform": "declare const error: ApiError; $error;",
  "an error for a retry": "declare const error: RetryLater; $error;",
  "a message's context": 'new Bot({ state }).on("dm.message", (ctx) => { $ctx; });',
  "the context of several types": 'new Router().on(["mention", "reply"], (ctx) => { $ctx; });',
  "a middleware's context": "new Bot({ state }).use((ctx, next) => { $ctx; return next(); });",
  "a narrowed context":
    'new Bot({ state }).use((ctx, next) => { if (ctx.is("dm.message")) $ctx; return next(); });',
  "a command's context": 'new Bot({ state }).command("x", { in: "dm" }, (ctx) => { $ctx; });',
  "a pattern's context": "new Bot({ state }).hears(/x/, (ctx) => { $ctx; });",
  "a timer's context": 'new Bot({ state }).onTimer("x", (ctx) => { $ctx; });',
  "a cron job's context": 'new Router().cron("x", "0 9 * * *", (ctx) => { $ctx; });',
  "a custom type's context": 'new Bot({ state }).on("x.y", state, (ctx) => { $ctx; });',
  "the context of unknown types": "new Router().onUnknown((ctx) => { $ctx; });",
  "a boundary's context": "new Bot({ state }).catch((_error, ctx) => { $ctx; });",
  "an observer's context": "new Bot({ state }).onError((_error, ctx) => { $ctx; });",
  "a known event": 'new Bot().on("dm.message", (ctx) => { $ctx.event; });',
  "a known payload": 'new Bot().on("mention", (ctx) => { $ctx.payload; });',
  "a timer's payload": 'new Bot().onTimer("x", (ctx) => { $ctx.payload; });',
  "any event": "new Bot().use((ctx, next) => { $ctx.event; return next(); });",
  "a command": 'new Bot().command("x", (ctx) => { $ctx.command; });',
};

const IMPORTS = `import { ApiError, Bot, RetryLater, Router, type StandardSchemaV1 } from "service-bot";
import { Client } from "service-bot/client";
import { ManualClock, TestBot, TestPlatform, testBot } from "service-bot/testing";
declare const state: StandardSchemaV1<unknown, { count: number }>;
export { ApiError, Bot, Client, ManualClock, RetryLater, Router, state, TestBot, TestPlatform, testBot };
`;

/** Members of JavaScript's own classes, which TypeScript describes. */
const FOREIGN: ReadonlySet<string> = new Set(["cause", "message", "name", "stack"]);

describe("an editor shows words for each member of", () => {
  let server: LanguageServer;
  let files = 0;

  beforeAll(async () => {
    server = await LanguageServer.start(join(root, "node_modules/typescript/bin/tsc"));
  }, TIMEOUT_MS);

  afterAll(() => server.stop());

  /** Opens the code with other statements in the place of the marked value. Returns the file, and where they begin. */
  function open(code: string, statements: (value: string) => string) {
    files += 1;
    const path = join(folder, `${files}.ts`);
    const [before = "", value = "", after = ""] = code.split(/\$([^;]*);/s);
    server.open(path, `${IMPORTS}${before}${statements(value)};${after}\n`);
    return { path, line: IMPORTS.split("\n").length - 1, start: before.length };
  }

  test.each(Object.entries(values))("%s", { timeout: TIMEOUT_MS }, async (_name, code) => {
    const [, value = ""] = /\$([^;]*);/.exec(code) ?? [];
    const dotted = open(code, () => `${value}.`);
    const end = { line: dotted.line, character: dotted.start + value.length + 1 };
    const names = await server.completions(dotted.path, end);
    const own = names.filter((name) => /^[a-z]\w*$/.test(name) && !FOREIGN.has(name));
    expect(own.length).toBeGreaterThan(0);
    const { path, line, start } = open(code, () => own.map((name) => `${value}.${name}`).join(";"));
    let character = start;
    const without: string[] = [];
    for (const name of own) {
      const shown = await server.hover(path, { line, character: character + value.length + 1 });
      const words = shown.replace(/```[\s\S]*?```|\*@internal\* —/g, "").trim();
      if (!/^[A-Z`]\S* \S/.test(words)) without.push(`${name}: ${words}`);
      character += `${value}.${name};`.length;
    }
    expect(without).toEqual([]);
  });
});

const TYPES = ["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"];

/** Code with one misspelt name, and the names that the compiler must list. */
const misspelt: readonly (readonly [code: string, names: readonly string[]])[] = [
  ['bot.on("dm.mesage", (ctx) => ctx.reply("x"));', TYPES],
  ['bot.on(["mention", "dm.mesage"], (ctx) => ctx.reply("x"));', TYPES],
  ['bot.on("dm.mesage", (ctx) => ctx.reply("x"), { maxAttempts: 3 });', TYPES],
  ['bot.on("dm.mesage", (ctx, next) => next(), (ctx) => ctx.reply("x"));', TYPES],
  ['bot.on("dm.mesage", (ctx, next) => next(), (ctx, next) => next(), (ctx) => 1);', TYPES],
  ['new Router().on("dm.mesage", () => 1);', TYPES],
  ['bot.use((ctx, next) => next(ctx.is("dm.mesage") ? {} : {}));', TYPES],
  ['bot.use((ctx, next) => next(ctx.is("mention", "dm.mesage") ? {} : {}));', TYPES],
  ['bot.use((ctx, next) => next(ctx.is(["dm.mesage"]) ? {} : {}));', TYPES],
  ['bot.use((ctx, next) => next(ctx.event.type === "dm.mesage" ? {} : {}));', TYPES],
  ['bot.on(["mention", "reply"], (ctx) => ctx.is("dm.mesage"));', TYPES],
  ['export const event: EventOf<"dm.mesage"> = bot as never;', TYPES],
  ['export const type: EventType = "dm.mesage";', TYPES],
  ['new TestPlatform().act({ type: "dm.mesage" });', TYPES],
  ['bot.command("x", { in: "dms" }, () => 1);', ["dm", "mention"]],
  ['bot.hears("x", { in: ["dms"] }, () => 1);', ["dm", "mention"]],
  ['bot.cron("x", "0 9 * * *", { missed: "frist" }, () => 1);', ["last", "none"]],
  ['new Bot({ delivery: "poling" });', ["auto", "webhook", "polling"]],
  ['new Bot({ startFrom: "beginning" });', ["now", "oldest"]],
  ['void bot.inbox.list({ state: "deadd" });', ["pending", "done", "dead", "discarded"]],
  ['void bot.inbox.list({ source: "webhok" });', ["webhook", "poll"]],
];

test("the compiler's error for a misspelt name lists the permitted names", {
  timeout: TIMEOUT_MS,
}, async () => {
  const imports = `import { Bot, type EventOf, type EventType, Router } from "service-bot";
    import { TestPlatform } from "service-bot/testing";
    export { Bot, type EventOf, type EventType, Router, TestPlatform };
    declare const bot: Bot;\n`;
  const files = misspelt.map(([code], index) => [`case-${index}.ts`, `${imports}${code}\n`]);
  const shown = await typeErrors(Object.fromEntries(files), {
    modules: join(folder, "node_modules"),
  });
  const unlisted = misspelt.flatMap(([code, names], index) => {
    const of = new RegExp(`case-${index}\\.ts\\(\\d+,\\d+\\): error[^\\n]*(?:\\n +[^\\n]*)*`, "g");
    const errors = shown.match(of)?.join("\n") ?? "no error";
    return names.every((name) => errors.includes(`"${name}"`)) ? [] : [`${code}\n${errors}`];
  });
  expect(unlisted).toEqual([]);
  expect(shown).not.toMatch(/keyof |EventType'/);
});

/**
 * Work for an editor that checks a bot from the starter, of which 4,587 types and 7,150 instantiations were needed when
 * these limits were set. The compiler counts the same on every machine, while its time varies. Recursive generics
 * multiply the counts.
 */
const MAX_CHECKS = { Types: 6_000, Instantiations: 9_000 };

test("checking a bot from the starter is within the budget of an editor", {
  timeout: TIMEOUT_MS,
}, async () => {
  const bot = join(folder, "starter");
  for (const name of ["src", "test", "tsconfig.json"]) {
    await cp(join(root, "templates/starter", name), join(bot, name), { recursive: true });
  }
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "--project", bot, "--extendedDiagnostics", "--singleThreaded"];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  for (const [count, max] of Object.entries(MAX_CHECKS)) {
    const counted = Number(new RegExp(`^${count}: +(\\d+)$`, "m").exec(stdout)?.[1]);
    expect(counted, stdout).toBeGreaterThan(max / 4);
    expect(counted, stdout).toBeLessThan(max);
  }
});
