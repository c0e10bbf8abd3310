import { describe, expect, test } from "vitest";
import { Bot, Router } from "../../src/index.ts";
import {
  type Accepted,
  type Argument,
  methodsOf,
  mistakesOf,
  optionsOf,
  type ValueKind,
} from "../support/wrong-values.ts";

const handler = () => undefined;

const schema = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;

const HANDLER_OPTIONS: Accepted = {
  maxAttempts: ["number"],
  retry: ["object"],
  timeoutMs: ["number"],
  concurrency: ["number"],
};

const SETTINGS = [
  ...["baseUrl", "apiKey", "delivery", "host", "port", "webhookPath", "drainMs"],
  ...["databaseUrl", "databaseSchema", "logLevel", "tracing", "metricsPort", "metricsHost"],
];

const BOT_OPTIONS: Accepted = {
  ...all(SETTINGS, "string", "number", "null"),
  webhookSecret: ["string", "number", "null", "array"],
  env: ["object"],
  name: ["string"],
  logger: [],
  state: [],
  clock: [],
  ...all(["lane", "onSwitch", "fetch", "random"], "function"),
  ...all(["handlerTimeoutMs", "leaseMs", "shutdownGraceMs", "requestTimeoutMs"], "number"),
  ...all(["requestRetries", "maxBacklog", "minFreeBytes"], "number"),
  ...all(["retry", "retention", "loopGuard"], "object"),
};

function all(names: readonly string[], ...kinds: readonly ValueKind[]): Accepted {
  return Object.fromEntries(names.map((name) => [name, kinds]));
}

const methods: Readonly<Record<string, readonly Argument[]>> = {
  "new Bot": [
    { name: "options", accepts: ["object"], call: (value) => new Bot(value) },
    ...optionsOf(BOT_OPTIONS, (options) => new Bot(options)),
    ...optionsOf({ baseMs: ["number"], maxMs: ["number"], factor: ["number"] }, (retry) => {
      return new Bot({ retry });
    }),
    ...optionsOf({ answers: ["number"], perMs: ["number"] }, (loopGuard) => new Bot({ loopGuard })),
  ],
  on: [
    { name: "type", accepts: ["string"], call: (value) => bot().on(value, handler) },
    { name: "type", accepts: ["string"], call: (value) => bot().on([value], handler) },
    { name: "type", accepts: ["string"], call: (value) => bot().on(value, schema, handler) },
    { name: "on(", accepts: ["function"], call: (value) => bot().on("mention", value) },
    { name: "on(", accepts: ["function"], call: (value) => bot().on("mention", value, handler) },
    {
      name: "options",
      accepts: ["function", "object"],
      call: (value) => bot().on("mention", handler, value),
    },
    ...optionsOf(HANDLER_OPTIONS, (options) => bot().on("mention", handler, options)),
    ...optionsOf({ baseMs: ["number"] }, (retry) => bot().on("mention", handler, { retry })),
  ],
  onUnknown: [
    { name: "onUnknown()", accepts: ["function"], call: (value) => bot().onUnknown(value) },
  ],
  onTimer: [
    { name: "onTimer()", accepts: ["string"], call: (value) => bot().onTimer(value, handler) },
    { name: "onTimer(", accepts: ["function"], call: (value) => bot().onTimer("a", value) },
    {
      name: "onTimer(",
      accepts: ["function"],
      call: (value) => bot().onTimer("a", value, handler),
    },
    ...optionsOf(HANDLER_OPTIONS, (options) => bot().onTimer("a", handler, options)),
  ],
  cron: [
    {
      name: "cron()",
      accepts: ["string"],
      call: (value) => bot().cron(value, "* * * * *", handler),
    },
    { name: "pattern", accepts: ["string"], call: (value) => bot().cron("a", value, handler) },
    { name: "cron(", accepts: ["function"], call: (value) => bot().cron("a", "* * * * *", value) },
    {
      name: "options",
      accepts: ["function", "object"],
      call: (value) => bot().cron("a", "* * * * *", value, handler),
    },
    ...optionsOf({ ...HANDLER_OPTIONS, timeZone: ["string"], missed: ["string"] }, (options) => {
      return bot().cron("a", "* * * * *", options, handler);
    }),
  ],
  command: [
    { name: "command()", accepts: ["string"], call: (value) => bot().command(value, handler) },
    { name: "command(", accepts: ["function"], call: (value) => bot().command("a", value) },
    {
      name: "options",
      accepts: ["function", "object"],
      call: (value) => bot().command("a", value, handler),
    },
    ...optionsOf({ description: ["string"], in: [] }, (options) => {
      return bot().command("a", options, handler);
    }),
  ],
  hears: [
    { name: "hears()", accepts: ["string"], call: (value) => bot().hears(value, handler) },
    { name: "hears(", accepts: ["function"], call: (value) => bot().hears("a", value) },
    {
      name: "options",
      accepts: ["function", "object"],
      call: (value) => bot().hears("a", value, handler),
    },
    ...optionsOf({ in: [] }, (options) => bot().hears("a", options, handler)),
  ],
  use: [{ name: "use()", accepts: ["function"], call: (value) => bot().use(value) }],
  onError: [{ name: "onError()", accepts: ["function"], call: (value) => bot().onError(value) }],
  catch: [
    { name: "catch()", accepts: ["function"], call: (value) => bot().catch(value) },
    { name: "type", accepts: ["string"], call: (value) => bot().catch(value, handler) },
    { name: "catch()", accepts: ["function"], call: (value) => bot().catch("mention", value) },
  ],
  run: [
    { name: "bots", accepts: [], call: (value) => Bot.run([value]) },
    {
      name: "bots",
      accepts: ["array"],
      call: (value) => Bot.run(value, { listen: false }),
    },
    { name: "options", accepts: ["object"], call: (value) => Bot.run([], value) },
    ...optionsOf({ listen: ["boolean"], standalone: ["boolean"] }, (options) =>
      Bot.run([], options),
    ),
  ],
  start: [
    { name: "options", accepts: ["object"], call: async (value) => (await failed()).start(value) },
    ...optionsOf({ listen: ["boolean"], standalone: ["boolean"] }, async (options) => {
      return (await failed()).start(options);
    }),
  ],
  middleware: [
    { name: "options", accepts: ["object"], call: (value) => bot().middleware(value) },
    ...optionsOf({ health: ["boolean"] }, (options) => bot().middleware(options)),
  ],
  handle: [{ name: "request", accepts: [], call: (value) => bot().handle(value) }],
};

/** Methods without arguments, or with the arguments of a server. */
const NONE = ["stop", "status", "idle"];

function bot(): Bot {
  return new Bot({ env: {} });
}

/** A bot that was started once. It refuses a second start. */
async function failed(): Promise<Bot> {
  const started = bot();
  await started.start({ listen: false }).catch(() => undefined);
  return started;
}

test("every method of a bot and of a module is here", () => {
  const names = new Set([...methodsOf(Bot.prototype), ...methodsOf(Router.prototype), "run"]);
  expect([...Object.keys(methods), ...NONE].sort()).toEqual([...names, "new Bot"].sort());
});

describe.each(Object.entries(methods))("%s refuses a wrong value by name", (_, list) => {
  test.each(list)("$name", async (argument) => {
    expect(await mistakesOf(argument)).toEqual([]);
  });
});
