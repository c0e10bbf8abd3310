import { describe, expect, test } from "vitest";
import { Client } from "../src/client/index.ts";
import { Bot, type BotOptions } from "../src/index.ts";
import { pageUrl } from "./faces/core.ts";
import { startTestBot } from "./support/world/test-bot.ts";

test.each<[BotOptions, string]>([
  [{ handlerTimeoutMs: 0 }, "handlerTimeoutMs must be from 1 to"],
  [{ handlerTimeoutMs: Number.POSITIVE_INFINITY }, "365 days"],
  [{ requestTimeoutMs: Number.NaN }, "requestTimeoutMs must be"],
  [{ requestRetries: 11 }, "requestRetries must be a whole number from 0 to 10"],
  [{ leaseMs: 999 }, "leaseMs must be a whole number from 1000 to"],
  [{ shutdownGraceMs: -1 }, "shutdownGraceMs must be from 0"],
  [{ maxBacklog: 0 }, "maxBacklog must be"],
  [{ minFreeBytes: -1 }, "minFreeBytes must be at least 0"],
  [{ retry: { maxMs: 1e300 } }, "retry.maxMs must be"],
  [{ retry: { factor: -1 } }, "retry.factor must be"],
  [{ retention: { idsMs: -1 } }, "retention.idsMs must be"],
])("an option of a bot that is out of range is refused by name: %j", (options, message) => {
  expect(() => new Bot(options)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(message) }),
  );
});

/** Passes unknown keys, as JavaScript or a spread may. */
const spread = (options: object): object => ({ ...options });

const refusal = (message: string) =>
  expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(message) });

describe("an option that does not exist is refused", () => {
  test.each<[object, string]>([
    [{ concurency: 3 }, "unknown option concurency (did you mean concurrency?)"],
    [{ maxatempts: 3 }, "did you mean maxAttempts?"],
    [{ MAX_ATTEMPTS: 3 }, "did you mean maxAttempts?"],
    [{ baseURL: "https://a.example" }, "did you mean baseUrl?"],
    [{ prot: 3000 }, "did you mean port?"],
    [{ colour: undefined }, "unknown option colour."],
    [{ retry: { maxMS: 5 } }, "unknown option retry.maxMS (did you mean retry.maxMs?)"],
    [{ retention: { idMs: 5 } }, "did you mean retention.idsMs?"],
    [{ toString: 1 }, "unknown option toString"],
  ])("of a bot: %j", (options, message) => {
    expect(() => new Bot(spread(options))).toThrow(refusal(message));
  });

  test("of a bot, all of them at once, and with what is out of range", () => {
    const options = spread({ concurency: 3, retry: { factr: 2 }, maxBacklog: 0 });
    expect(() => new Bot(options)).toThrow(/concurency .*retry\.factr .*maxBacklog /);
  });

  test.each<[object, string]>([
    [{ maxAtempts: 3 }, "did you mean maxAttempts?"],
    [{ timeoutMS: 5 }, "did you mean timeoutMs?"],
    [{ retry: { base: 5 } }, "unknown option retry.base (did you mean retry.baseMs?)"],
  ])("of a handler: %j", (options, message) => {
    const bot = new Bot();
    expect(() => bot.on("mention", () => undefined, spread(options))).toThrow(refusal(message));
  });

  test("of the start", async () => {
    const bot = new Bot();
    await expect(bot.start(spread({ listn: false }))).rejects.toEqual(
      refusal("unknown option listn (did you mean listen?)"),
    );
  });

  test("of a client", () => {
    const options = {
      baseUrl: "https://platform.example",
      apiKey: "key",
      ...spread({ retrys: 1 }),
    };
    expect(() => new Client(options)).toThrow(refusal("did you mean retries?"));
  });

  test.each(["onRequest", "onHeldBack", "onBudget", "onBreaker"])(
    "of a client of an earlier version, with the remedy: %s",
    (name) => {
      const hook = spread({ [name]: () => undefined });
      const options = { baseUrl: "https://platform.example", apiKey: "key", ...hook };
      expect(() => new Client(options)).toThrow(refusal(pageUrl("operate/channels")));
    },
  );

  test("of a test's refusals and deliveries", async () => {
    const under = await startTestBot();
    const refusing = { code: "BLOCKED", ...spread({ time: 2 }) };
    expect(() => under.refuse(refusing)).toThrow(refusal("did you mean times?"));
    await expect(under.deliver([], spread({ secrt: "whsec_x" }))).rejects.toEqual(
      refusal("did you mean secret?"),
    );
  });
});

test("the usual options are in range, and retention may be unlimited", () => {
  expect(() => new Bot()).not.toThrow();
  expect(() => new Bot({ retention: { idsMs: Number.POSITIVE_INFINITY } })).not.toThrow();
});
