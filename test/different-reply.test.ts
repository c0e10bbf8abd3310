import { describe, expect, test } from "vitest";
import type { TestBot } from "../src/testing/index.ts";
import { payloads } from "./events/samples.ts";
import type { Bot } from "./faces/bot.ts";
import type { Context } from "./faces/router.ts";
import { logSink } from "./support/log.ts";
import { startTestBot } from "./support/world/test-bot.ts";

interface Scene {
  readonly bot: TestBot<Bot>;
  warnings(): readonly unknown[];
}

/** Runs the handler twice for one message. The first run fails after the handler's last line. */
async function runTwice(handle: (ctx: Context<"dm.message">) => Promise<unknown>): Promise<Scene> {
  const sink = logSink();
  const failing = (made: Bot) =>
    made.on("dm.message", async (ctx) => {
      await handle(ctx);
      if (ctx.attempt === 1) throw new Error("boom");
    });
  const bot = await startTestBot(failing, { logger: sink.log });
  await bot.deliver({ type: "dm.message", payload: payloads["dm.message"] });
  await bot.clock.advance(10_000);
  await bot.bot.idle();
  const warnings = () =>
    sink.records.filter(({ level, step }) => level === "warn" && step !== undefined);
  return { bot, warnings };
}

const textsOf = ({ bot }: Scene) => bot.sent.map(({ text }) => text);

describe("a retried handler whose reply would differ", () => {
  test("says nothing, and the log names the reply without its texts", async () => {
    const scene = await runTwice(async (ctx) => {
      if (ctx.attempt === 1) await ctx.reply("looking it up");
      else await ctx.reply("sorry");
    });
    expect(textsOf(scene)).toEqual(["looking it up"]);
    const warnings = scene.warnings();
    expect(warnings).toMatchObject([{ level: "warn", step: "reply/1", attempt: 2 }]);
    expect(JSON.stringify(warnings)).not.toMatch(/looking|sorry/);
  });

  test.each<[string, (ctx: Context) => Promise<unknown>, string]>([
    ["a comment elsewhere", (ctx) => ctx.comment(`p_${ctx.attempt}`, "hi"), "comment/1"],
    ["a comment in other words", (ctx) => ctx.comment("p_1", `hi ${ctx.attempt}`), "comment/1"],
    ["a post", (ctx) => ctx.post(`news ${ctx.attempt}`), "post/1"],
  ])("is warned of: %s", async (_name, handle, step) => {
    const scene = await runTwice(handle);
    expect(scene.bot.sent).toHaveLength(1);
    expect(scene.warnings()).toMatchObject([{ step }]);
  });

  test("is warned of where it attaches more images", async () => {
    const scene = await runTwice(async (ctx) => {
      const images = Array.from({ length: ctx.attempt }, (_, n) => `https://example.org/${n}.png`);
      await ctx.reply({ text: "look", images: images.map((url) => ({ url })) });
    });
    expect(scene.warnings()).toMatchObject([{ step: "reply/1" }]);
  });

  test("is not warned of where it says the same", async () => {
    const scene = await runTwice((ctx) => ctx.reply("hello"));
    expect(textsOf(scene)).toEqual(["hello"]);
    expect(scene.warnings()).toEqual([]);
  });
});

describe("repeated", () => {
  test("is true where an earlier run made the write, and false where this one did", async () => {
    const seen: boolean[][] = [];
    await runTwice(async (ctx) => {
      const first = await ctx.reply("one");
      const comment = await ctx.comment("p_1", "two");
      const post = await ctx.post("three");
      const upload = await ctx.upload({ url: "https://example.org/a.png" });
      const added = ctx.attempt === 1 ? [] : [await ctx.reply("four")];
      seen.push([first, comment, post, upload, ...added].map(({ repeated }) => repeated));
    });
    expect(seen).toEqual([
      [false, false, false, false],
      [true, true, true, true, false],
    ]);
  });
});

describe("a key", () => {
  test("lets each run say what is its own", async () => {
    const scene = await runTwice((ctx) =>
      ctx.reply(`try ${ctx.attempt}`, { key: `try ${ctx.attempt}` }),
    );
    expect(textsOf(scene)).toEqual(["try 1", "try 2"]);
    expect(scene.warnings()).toEqual([]);
  });

  test("is logged once as well, and names the write", async () => {
    const scene = await runTwice((ctx) => ctx.reply(`try ${ctx.attempt}`, { key: "tries" }));
    expect(textsOf(scene)).toEqual(["try 1"]);
    expect(scene.warnings()).toMatchObject([{ step: "reply/key:tries" }]);
  });

  test("leaves the numbers of the others alone", async () => {
    const scene = await runTwice(async (ctx) => {
      if (ctx.attempt === 2) await ctx.reply("sorry", { key: "sorry" });
      await ctx.reply("hello");
    });
    expect(textsOf(scene)).toEqual(["hello", "sorry"]);
    expect(scene.warnings()).toEqual([]);
  });

  test("names a comment, a post and an upload, too", async () => {
    const scene = await runTwice(async (ctx) => {
      const key = String(ctx.attempt);
      await ctx.comment("p_1", "hi", { key });
      await ctx.post("news", { key });
      await ctx.upload({ url: "https://example.org/a.png" }, { key });
    });
    expect(scene.bot.sent.map(({ kind }) => kind)).toEqual(["comment", "post", "comment", "post"]);
    expect(scene.bot.uploads).toHaveLength(2);
  });

  test.each(["", "x".repeat(101), "a\nb", "\u202e", "\ud800", 5])("is refused: %j", async (key) => {
    const codes: unknown[] = [];
    const scene = await runTwice(async (ctx) => {
      await ctx.reply("one", { key: key as string }).catch((error) => codes.push(error.code));
    });
    expect(codes).toEqual(["INVALID_OPTION", "INVALID_OPTION"]);
    expect(textsOf(scene)).toEqual([]);
  });
});
