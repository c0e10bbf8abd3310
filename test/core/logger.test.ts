import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ApiError } from "../faces/client.ts";
import {
  createLogger,
  type Logger,
  type LogLevel,
  logLevels,
  scrubber,
  showError,
} from "../faces/core.ts";
import { codeOf, findCause, hasCode, messageOf } from "../faces/errors.ts";
import { FORBIDDEN, hostileText } from "../support/hostile-text.ts";
import { unreadable } from "../support/unreadable.ts";

const secret = "whsec_canary_3f9a";
const apiKey = "key-canary-77b1";
const words = "meet me at the old pier";

function logger(level: LogLevel = "trace", secrets: readonly string[] = [secret, apiKey]) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLogger({ level, secrets, destination }), lines };
}

describe("a line", () => {
  test("holds no character that commands a terminal, and the same value", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const { log, lines } = logger();
        log.info({ id: text, [text]: { text } }, text);
        expect(lines[0]).not.toMatch(FORBIDDEN);
        expect(JSON.parse(lines[0] ?? "")).toMatchObject({ id: text, msg: text });
      }),
    );
  });

  test("has its own time, also among lines of the same millisecond", () => {
    const { log, lines } = logger();
    const moments = [0, 0, 1, 86_400_000, 0];
    const now = vi.spyOn(Date, "now");
    onTestFinished(() => now.mockRestore());
    for (const at of moments) {
      now.mockReturnValue(at);
      log.info("x");
    }
    const times = lines.map((line) => Date.parse(JSON.parse(line).time));
    expect(times).toEqual(moments);
  });

  test("is one JSON object with time, level and message", () => {
    const { log, lines } = logger();
    log.info({ stored: 2 }, "delivery\nof two");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    const line: Record<string, unknown> = JSON.parse(lines[0] ?? "");
    expect(line).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      stored: 2,
      msg: "delivery\nof two",
    });
  });

  test("is written from its level up", () => {
    for (const level of logLevels) {
      const { log, lines } = logger(level);
      for (const loud of ["trace", "debug", "info", "warn", "error", "fatal"] as const)
        log[loud]("x");
      const written = lines.map((line) => (JSON.parse(line) as { level: LogLevel }).level);
      expect(written).toEqual(
        logLevels.slice(logLevels.indexOf(level)).filter((one) => one !== "silent"),
      );
    }
  });
});

describe("secrets", () => {
  const ways: [string, (log: Logger, value: string) => void][] = [
    ["as the message", (log, value) => log.info(value)],
    ["inside the message", (log, value) => log.warn(`the secret is ${value}, twice ${value}`)],
    ["as an argument", (log, value) => log.info("the secret is %s", value)],
    ["in a field", (log, value) => log.info({ note: value }, "x")],
    ["as the name of a field", (log, value) => log.info({ [value]: 1 }, "x")],
    ["deep in a field", (log, value) => log.info({ a: { b: [{ c: `x${value}x` }] } }, "x")],
    ["in an error", (log, value) => log.error({ err: new Error(`bad ${value}`) }, "x")],
    [
      "in the cause of an error",
      (log, value) => log.error({ err: new Error("x", { cause: new Error(value) }) }, "x"),
    ],
    [
      "in an error of the API",
      (log, value) => log.error(new ApiError(`got ${value}`, { status: 401 })),
    ],
    ["in a child's fields", (log, value) => log.child({ note: value }).info("x")],
    [
      "in a header",
      (log, value) => log.info({ headers: { authorization: `Bearer ${value}` } }, "x"),
    ],
    ["in an address", (log, value) => log.info({ url: `http://platform.test/?key=${value}` }, "x")],
  ];

  test.each(ways)("%s are taken out, and the line is still JSON", (_name, write) => {
    for (const value of [secret, apiKey, 'whsec_with"quote', "whsec_with\\backslash"]) {
      const { log, lines } = logger("trace", [value]);
      write(log, value);
      expect(lines).toHaveLength(1);
      expect(() => JSON.parse(lines[0] ?? "")).not.toThrow();
      expect(lines[0]).toContain("[redacted]");
      expect(lines[0]).not.toContain(value);
      expect(lines[0]).not.toContain(JSON.stringify(value).slice(1, -1));
    }
  });

  test.each(ways)("%s would be there, were they not known", (_name, write) => {
    const { log, lines } = logger("trace", []);
    write(log, "a-word-like-any-other");
    // The logger redacts this header because of its name.
    if (lines[0]?.includes("authorization")) expect(lines[0]).toContain("[redacted]");
    else expect(lines[0]).toContain("a-word-like-any-other");
  });
});

describe("user text", () => {
  const event = { id: "1", type: "dm.message", payload: { excerpt: words, conversationId: "c_1" } };

  test.each<[string, object]>([
    ["an event", { event }],
    ["a payload", { payload: event.payload }],
    ["an excerpt", { excerpt: words }],
    ["a message", { message: { id: "m_1", text: words } }],
    ["a text", { text: words }],
    ["a body", { body: words }],
    ["a request with its body", { request: { body: words } }],
  ])("%s is logged without them", (_name, fields) => {
    const { log, lines } = logger();
    log.info(fields, "x");
    log.child(fields).info("y");
    log.child({ note: 1 }).child(fields).info("y");
    const child = log.child({});
    child.setBindings(fields);
    child.info("y");
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      expect(line).not.toContain("pier");
      expect(line).toContain("[redacted]");
    }
  });

  class Shown {
    readonly payload = words;
    toJSON() {
      return { id: 1, text: this.payload };
    }
  }

  test.each<[string, (log: Logger) => void]>([
    ["toJSON", (log) => log.info({ shown: new Shown() }, "x")],
    [
      "a child's serializer",
      (log) => {
        const serializers = { request: () => ({ body: words }) };
        log.child({}, { serializers }).info({ request: 1 }, "x");
      },
    ],
    [
      "a child's formatter",
      (log) => {
        const formatters = { log: (record: object) => ({ ...record, text: words }) };
        log.child({}, { formatters }).info({ note: 1 }, "x");
      },
    ],
    [
      "a child's formatter of its fields",
      (log) => {
        const formatters = { bindings: (fields: object) => ({ ...fields, text: words }) };
        log.child({ note: 1 }, { formatters }).info("x");
      },
    ],
  ])("is hidden in what %s returns", (_name, write) => {
    const { log, lines } = logger();
    write(log);
    expect(lines[0]).toContain("[redacted]");
    expect(lines[0]).not.toContain("pier");
  });

  test("a field that cannot be serialized does not break the line", () => {
    const { log, lines } = logger();
    const broken = {
      toJSON() {
        throw new Error("no");
      },
    };
    log.info({ broken }, "x");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "info", msg: "x" });
  });

  test("everything else stays", () => {
    const { log, lines } = logger();
    log.info({ event }, "x");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ event: { id: "1", type: "dm.message" } });
  });

  test.each([
    "apiKey",
    "secret",
    "secrets",
    "webhookSecret",
    "webhookSecrets",
    "authorization",
    "signature",
  ])("the field %s is taken out too, also where its value is not known", (name) => {
    const { log, lines } = logger("info", []);
    log.info({ [name]: "unheard-of" }, "x");
    log.info({ config: { [name]: "unheard-of" } }, "x");
    for (const line of lines) expect(line).not.toContain("unheard-of");
  });

  test("so is the signature among headers", () => {
    const { log, lines } = logger("info", []);
    log.info({ headers: { "x-service-signature": "t=1,v1=abc", host: "bot.test" } }, "x");
    expect(lines[0]).not.toContain("v1=abc");
    expect(lines[0]).toContain("bot.test");
  });

  test("the caller's own objects stay as they are", () => {
    const { log } = logger();
    log.info({ event }, "x");
    expect(event.payload.excerpt).toBe(words);
  });
});

describe("scrubber", () => {
  test("removes every value, wherever it occurs", () => {
    const digits = fc.stringMatching(/^[0-9]{4,8}$/);
    fc.assert(
      fc.property(fc.array(digits, { minLength: 1 }), fc.array(fc.string()), (values, rest) => {
        const text = values.map((value, index) => `${rest[index] ?? ""}${value}`).join("|");
        const scrubbed = scrubber(values)(`${text}${text}`);
        for (const value of values) expect(scrubbed).not.toContain(value);
      }),
    );
  });

  test("takes the longer of two values out whole", () => {
    expect(scrubber(["1234", "12345678"])("a 12345678 b")).not.toMatch(/\d/);
  });

  test("takes a value out as JSON writes it, too, once and twice over", () => {
    const value = 'she said "hi"\nand left';
    const scrub = scrubber([value]);
    for (const text of [
      value,
      JSON.stringify({ value }),
      JSON.stringify(JSON.stringify({ value })),
    ]) {
      expect(text).toContain("left");
      expect(scrub(text)).not.toContain("left");
    }
  });

  test("leaves texts alone that are too short to hide anything", () => {
    expect(scrubber(["ok", "hi", ""])("ok, hi there")).toBe("ok, hi there");
    expect(scrubber(["okay"])("okay, hi there")).not.toContain("okay");
  });

  test("takes what looks like a pattern for what it is", () => {
    expect(scrubber(["$&.*"])("cost: $&.* and more")).toBe("cost: [redacted] and more");
  });
});

describe("an error, as it may be shown", () => {
  const scrub = scrubber([words]);

  test("has its type, message, code and stack, all scrubbed", () => {
    const error = Object.assign(new TypeError(`cannot read "${words}"`), { code: "E_READ" });
    const shown = showError(error, scrub);
    expect(shown).toMatchObject({
      type: "TypeError",
      code: "E_READ",
      message: expect.stringContaining("cannot read"),
    });
    expect(shown.stack).toContain("cannot read");
    expect(JSON.stringify(shown)).not.toContain("pier");
  });

  test("keeps the paths of its frames, which may contain a word of the user by chance", () => {
    const error = new Error("no handlers for /test");
    error.stack = `${error}\n    at /test (file:///bot/test/test.ts:1:2)\n    at async /bot/test.ts:3:4`;
    expect(showError(error, scrubber(["/test"])).stack).toBe(
      "Error: no handlers for [redacted]\n" +
        "    at [redacted] (file:///bot/test/test.ts:1:2)\n    at async /bot/test.ts:3:4",
    );
  });

  test("shows no frame that a text has forged", () => {
    const forged = "x\n    at pier (/home/pier:1:2)";
    expect(showError(new Error(forged), scrubber([forged])).stack).not.toContain("pier (");
    const changed = Object.assign(new Error(forged), { message: "y" });
    expect(showError(changed, scrubber([forged])).stack).not.toContain("pier (");
  });

  test("is scrubbed of texts in its name and its code, too", () => {
    const error = Object.assign(new Error("x"), { name: words, code: words });
    expect(showError(error, scrub)).toMatchObject({ type: "[redacted]", code: "[redacted]" });
  });

  test("may be anything that can be thrown", () => {
    expect(showError(`no ${words}`, scrub)).toEqual({ type: "string", message: "no [redacted]" });
    expect(showError(undefined, scrub)).toEqual({ type: "undefined", message: "undefined" });
    expect(showError({ words }, scrub)).toEqual({ type: "object", message: "[object Object]" });
  });

  test("shows no other fields: they may hold anything", () => {
    const error = Object.assign(new Error("x"), { request: { token: "t" }, code: 5 });
    expect(Object.keys(showError(error, scrub)).sort()).toEqual(["message", "stack", "type"]);
  });
});

describe("the field err of a line", () => {
  const errOf = (err: unknown): Record<string, unknown> => {
    const { log, lines } = logger();
    log.error({ err }, "x");
    return JSON.parse(lines[0] ?? "").err;
  };

  test("has type, message, code and stack, with those of the causes, and nothing else", () => {
    const cause = Object.assign(new Error("no route"), { detail: words });
    const error = new ApiError("cannot say it", { status: 400, platformCode: "EMPTY", cause });
    const err = errOf(Object.assign(error, { request: { body: words } }));
    expect(err).toEqual({
      type: "ApiError",
      message: "cannot say it: no route",
      code: "EMPTY",
      stack: expect.stringMatching(/cannot say it.*caused by: Error: no route/s),
    });
  });

  test("is as it was described, where that has been done", () => {
    const shown = showError(new TypeError("no way"), (text) => text);
    expect(errOf(shown)).toEqual({ ...shown });
  });

  test("has a type and a message for any thrown value", () => {
    expect(errOf("gone")).toEqual({ type: "string", message: "gone" });
    expect(errOf({ words })).toEqual({ type: "object", message: "[object Object]" });
    expect(errOf(Object.create({ toString: null }))).toEqual({ type: "object", message: "" });
  });

  test("keeps its type in a logger that is not ours", () => {
    const lines: string[] = [];
    const own = pino({}, { write: (line: string) => void lines.push(line) });
    own.error({ err: showError(new TypeError("no way"), (text) => text) }, "x");
    expect(JSON.parse(lines[0] ?? "").err).toMatchObject({ type: "TypeError", message: "no way" });
  });
});

describe.each(Object.entries(unreadable))("%s", (_name, value) => {
  test("is logged in one line, in any place", () => {
    const { log, lines } = logger();
    const info = (...given: readonly unknown[]) => Reflect.apply(log.info, log, given);
    info({ err: value(), kept: 1 }, "x");
    info({ value: value(), kept: 1 }, "x");
    info({ inside: { value: value() }, kept: 1 }, "x");
    info("%s %o %j %d", value(), value(), value(), value());
    info(value(), "x");
    info({}, value());
    log.child({ value: value(), kept: 1 }).info("x");
    expect(lines).toHaveLength(7);
    const records = lines.map((line) => JSON.parse(line));
    expect(records.map(({ kept }) => kept)).toEqual([1, 1, 1, undefined, undefined, undefined, 1]);
  });

  test("is shown as an error, with texts of limited length", () => {
    const shown = showError(value(), scrubber([secret]));
    for (const text of Object.values(shown)) {
      expect(text).toBeTypeOf("string");
      expect(text.length).toBeLessThan(100_000);
    }
    expect(messageOf(value())).toBeTypeOf("string");
    expect(codeOf(value())).toBeTypeOf("string");
    expect(hasCode(value(), "E")).toBe(false);
    expect(findCause(value(), (at): at is TypeError => at instanceof TypeError)).toBeUndefined();
  });
});

test("a secret at the end of what is shown of a long error is hidden, however it is cut", () => {
  const scrub = scrubber([secret]);
  for (const length of [16_380, 81_910, 81_915, 100_000]) {
    const shown = showError(new Error("x".repeat(length) + secret.repeat(9_000)), scrub);
    expect(JSON.stringify(shown)).not.toContain(secret.slice(0, 6));
  }
});
