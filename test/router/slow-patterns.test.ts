import { describe, expect, test } from "vitest";
import { payloads } from "../events/samples.ts";
import type { Bot } from "../faces/bot.ts";
import { BoundedPattern, Router } from "../faces/router.ts";
import { logSink } from "../support/log.ts";
import { startTestBot } from "../support/world/test-bot.ts";

/** In ms. Short, so that the tests are fast. */
const TIMEOUT_MS = 10;

const bounded = (expression: RegExp) =>
  new BoundedPattern(expression, `hears(${expression})`, TIMEOUT_MS);

/** Expressions with texts for which V8 takes seconds to millions of years. */
const hostile: readonly (readonly [RegExp, string])[] = [
  [/^(a+)+$/, `${"a".repeat(40)}!`],
  [/^(a+)+$/i, `${"aA".repeat(20)}!`],
  [/^(a|a)*$/u, `${"a".repeat(40)}!`],
  [/^(a|aa)+$/v, `${"a".repeat(60)}!`],
  [/^(\w+\s?)*$/, `${"word ".repeat(20)}!`],
  [/(x+x+)+y/, "x".repeat(40)],
  [/^(?:(?:a{0,30}){0,30}){0,30}$/, `${"a".repeat(30)}!`],
  [/^(.*?,){11}P/, "1,2,3,4,5,6,7,8,9,10,11,".repeat(4)],
  [/\s+$/, `${" ".repeat(300_000)}x`],
  [/(.*)\1x/s, "a".repeat(5_000)],
  [/(?<=x.*)b/, "b".repeat(200_000)],
  [/(?<!^(?:a+)+)c/, `b${"a".repeat(40)}c`],
  [/^(?=(a+)+$)/d, `${"a".repeat(40)}!`],
];

describe("an expression that would take long", () => {
  test.each(hostile)("%s is ended", (expression, text) => {
    const { exec, error } = tryExec(expression, text);
    expect(error).toMatchObject({ code: "PATTERN_TIMEOUT" });
    expect(exec).toBeUndefined();
  });

  test("is named in the error, without the text", () => {
    const { error } = tryExec(/^(a+)+$/, `${"a".repeat(40)}!`);
    expect(String(error)).toContain("hears(/^(a+)+$/)");
    expect(String(error)).not.toContain("aaaa");
  });

  test("is not tried again once it has used its time", () => {
    let tries = 0;
    class Counted extends RegExp {
      override exec(text: string): RegExpExecArray | null {
        tries += 1;
        return super.exec(text);
      }
    }
    tryExec(new Counted("^(a+)+$"), `${"a".repeat(40)}!`);
    // On a busy machine, the first tries may get no CPU time.
    expect(tries).toBeLessThan(4);
  });

  test("still matches a text for which it is fast", () => {
    expect(bounded(/^(\w+\s?)*$/).exec("what is new today")?.[1]).toBe("today");
    expect(bounded(/^(a+)+$/).exec("aaaa")).toEqual(/^(a+)+$/.exec("aaaa"));
  });
});

test("a match that had no CPU time, as on a busy machine, gets more time", () => {
  class Delayed extends RegExp {
    override exec(text: string): RegExpExecArray | null {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * TIMEOUT_MS);
      return super.exec(text);
    }
  }
  expect(bounded(new Delayed("^(a+)+$")).exec("aaa")?.[0]).toBe("aaa");
});

function tryExec(expression: RegExp, text: string) {
  try {
    return { exec: bounded(expression).exec(text) };
  } catch (error) {
    return { error };
  }
}

describe("a match", () => {
  test.each([
    [/^roll (\d+)$/i, "ROLL 20"],
    [/(?<hours>\d+)h(?<minutes>\d+)?/d, "in 3h please"],
    [/(?:(a)|b)*/, "ab"],
    [/\u{1f600}+/u, "😀😀"],
    [/[\p{L}--[a-z]]/v, "abcÉ"],
    [/^b/m, "a\nb"],
    [/a.b/s, "a\nb"],
    [/(\d+) kg/, `${"a word ".repeat(5_000)} 12 kg`],
    [/(\w+)\s+(\w+)$/, `${"a word ".repeat(2_000)}end`],
  ])("of %s is that of the expression, for a text of any length", (expression, text) => {
    const [match, own] = [bounded(expression).exec(text), expression.exec(text)];
    expect(own).not.toBeNull();
    expect(match).toEqual(own);
    expect(match?.groups).toEqual(own?.groups);
    expect(match?.indices).toEqual(own?.indices);
    expect(match?.index).toBe(own?.index);
    expect(Array.isArray(match)).toBe(true);
  });
});

describe("slow expressions", () => {
  test.each([
    /^(a+)+$/,
    /^(a|a)*$/,
    /(x+x+)+y/,
    /^(\w+\s?)*$/,
    /(.*)(.*)(.*)x/,
    /(?<=(a+)+)b/,
    /^(?:a?){40}a{40}$/,
  ])("include %s", (expression) => {
    expect(bounded(expression).isSlow).toBe(true);
  });

  test.each([
    /^roll (\d+)$/i,
    /^(?:hi|hello)\b/i,
    /^(?:yes|no)+$/,
    /^(\d+,)*\d+$/,
    /^remind me to (.+) in (\d+) (minutes|hours)$/i,
    /https?:\/\/\S+/i,
    /\b[\w.+-]+@[\w-]+\.[\w.]+\b/,
    /^(?=.*\d)(?=.*[a-z]).{8,}$/,
    /\s+$/,
    /^(\S+\s)+$/,
    /^- (.+)$/m,
  ])("do not include %s", (expression) => {
    expect(bounded(expression).isSlow).toBe(false);
  });

  test("are logged once on startup, also those of modules", async () => {
    const sink = logSink();
    const module = new Router().hears(/(b+)+c/, () => undefined);
    const prepare = (bot: Bot) =>
      bot
        .hears(/^(a+)+$/, () => undefined)
        .hears(/^roll (\d+)$/, () => undefined)
        .hears("(a+)+", () => undefined)
        .use(module);
    await startTestBot(prepare, { logger: sink.log });
    const lines = sink.records.filter(({ patterns }) => patterns !== undefined);
    expect(lines).toMatchObject([
      { level: "warn", patterns: ["hears(/^(a+)+$/)", "hears(/(b+)+c/)"] },
    ]);
  });
});

test("a text that makes an expression slow ends as a dead letter at once, and others are answered", async () => {
  const bot = await startTestBot((made) =>
    made
      .hears(/^(a+)+$/, (ctx) => ctx.reply("only a"))
      .on("dm.message", (ctx) => ctx.reply("hello")),
  );
  const message = (conversationId: string, excerpt: string) => {
    const payload = { ...payloads["dm.message"], conversationId, excerpt };
    return { type: "dm.message", payload } as const;
  };
  await bot.deliver([
    message("c_1", `${"a".repeat(60)}!`),
    message("c_2", "aaa"),
    message("c_3", "hi"),
  ]);
  expect(bot.failures).toMatchObject([{ outcome: "dead", error: { code: "PATTERN_TIMEOUT" } }]);
  expect(bot.sent.map((sent) => "text" in sent && sent.text).sort()).toEqual(["hello", "only a"]);
});
