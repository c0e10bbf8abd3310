import { describe, expect, test } from "vitest";
import type { Context } from "../../src/index.ts";
import { unreadable } from "../support/unreadable.ts";
import { startTestBot } from "../support/world/test-bot.ts";
import { type Argument, mistakesOf } from "../support/wrong-values.ts";

type Arguments = readonly ((context: Context) => Argument)[];

let keys = 0;
const newKey = () => `key${++keys}`;

const schema = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ value: { count: 0 } }) },
} as const;

const arguments_: Readonly<Record<string, Arguments>> = {
  reply: [
    ({ reply }) => ({
      name: "message",
      accepts: ["string", "object"],
      call: (value) => reply(value),
    }),
    ({ reply }) => ({ name: "text", accepts: ["string"], call: (text) => reply({ text }) }),
    ({ reply }) => ({ name: "images", accepts: ["array"], call: (images) => reply({ images }) }),
    ({ reply }) => ({
      name: "mage",
      accepts: ["string"],
      call: (image) => reply({ images: [image] }),
    }),
    ({ reply }) => ({
      name: "imageKeys",
      accepts: ["array"],
      call: (imageKeys) => reply({ imageKeys }),
    }),
    ({ reply }) => ({
      name: "imageKeys",
      accepts: ["string"],
      call: (key) => reply({ imageKeys: [key] }),
    }),
    ({ reply }) => ({ name: "options", accepts: ["object"], call: (value) => reply("x", value) }),
    ({ reply }) => ({ name: "key", accepts: ["string"], call: (key) => reply("x", { key }) }),
  ],
  comment: [
    ({ comment }) => ({
      name: "postId",
      accepts: ["string"],
      call: (value) => comment(value, "x"),
    }),
    ({ comment }) => ({
      name: "message",
      accepts: ["string", "object"],
      call: (value) => comment("p_1", value),
    }),
    ({ comment }) => ({
      name: "options",
      accepts: ["object"],
      call: (value) => comment("p_1", "x", value),
    }),
  ],
  post: [
    ({ post }) => ({
      name: "message",
      accepts: ["string", "object"],
      call: (value) => post(value),
    }),
    ({ post }) => ({ name: "options", accepts: ["object"], call: (value) => post("x", value) }),
  ],
  upload: [
    ({ upload }) => ({ name: "image", accepts: ["string"], call: (value) => upload(value) }),
    ({ upload }) => ({
      name: "options",
      accepts: ["object"],
      call: (value) => upload(new Uint8Array(), value),
    }),
  ],
  messages: [
    ({ messages }) => ({ name: "options", accepts: ["object"], call: (value) => messages(value) }),
    ({ messages }) => ({ name: "limit", accepts: [], call: (limit) => messages({ limit }) }),
  ],
  step: [
    ({ step }) => ({ name: "name", accepts: ["string"], call: (value) => step(value, () => 1) }),
    ({ step }) => ({ name: "fn", accepts: ["function"], call: (value) => step(newKey(), value) }),
    ({ step }) => ({
      name: "options",
      accepts: ["object"],
      call: (value) => step(newKey(), () => 1, value),
    }),
    ({ step }) => ({
      name: "repeatable",
      accepts: ["boolean"],
      call: (repeatable) => step(newKey(), () => 1, { repeatable }),
    }),
  ],
  is: [
    (context) => ({ name: "types", accepts: ["string"], call: (value) => context.is(value) }),
    (context) => ({
      name: "types",
      accepts: ["string"],
      call: (value) => context.is(value, schema),
    }),
    (context) => ({
      name: "types",
      accepts: ["string", "object"],
      call: (value) => context.is("order.paid" as never, value),
    }),
  ],
  state: [
    ({ state }) => ({
      name: "state key",
      accepts: ["string"],
      call: (value) => state(value, schema),
    }),
    ({ state }) => ({ name: "schema", accepts: [], call: (value) => state(newKey(), value) }),
  ],
  clearState: [
    ({ clearState }) => ({
      name: "state key",
      accepts: ["string"],
      call: (value) => clearState(value),
    }),
  ],
  later: [
    ({ later }) => ({ name: "name", accepts: ["string"], call: (value) => later(value, "1h") }),
    ({ later }) => ({
      name: "time",
      accepts: ["number", "date"],
      call: (value) => later("tick", value),
    }),
    ({ later }) => ({
      name: "data",
      accepts: ["null", "number", "boolean", "string", "array", "object", "date"],
      call: (value) => later("tick", "1h", value),
    }),
    ({ later }) => ({
      name: "options",
      accepts: ["object"],
      call: (value) => later("tick", "1h", 1, value),
    }),
    ({ later }) => ({
      name: "key",
      accepts: ["string"],
      call: (key) => later("tick", "1h", 1, { key }),
    }),
  ],
  cancel: [
    ({ cancel }) => ({ name: "name", accepts: ["string"], call: (value) => cancel(value) }),
    ({ cancel }) => ({
      name: "timer key",
      accepts: ["string"],
      call: (value) => cancel("tick", value),
    }),
  ],
};

/** Runs `work` as the handler of a message. The run may fail, for example because of a reply without an `await`. */
async function inHandler<T>(work: (context: Context) => Promise<T>): Promise<T> {
  const result = Promise.withResolvers<T>();
  const bot = await startTestBot((made) =>
    made
      .onTimer("tick", () => undefined)
      .on("dm.message", (context) => work(context).then(result.resolve, result.reject)),
  );
  await bot.dm("hi").catch(() => undefined);
  return await result.promise;
}

test("every method of the context is here", async () => {
  const names = await inHandler(async (context) => {
    const all = Object.getOwnPropertyNames(Object.getPrototypeOf(context));
    return all.filter((name) => typeof Reflect.get(context, name) === "function");
  });
  const without = ["constructor", "text", "message", "peer"];
  expect([...Object.keys(arguments_), ...without].sort()).toEqual(names.sort());
});

describe.each(Object.entries(arguments_))("ctx.%s refuses a wrong value by name", (_, list) => {
  test("in each place", async () => {
    const mistakes = await inHandler(async (context) => {
      const all = await Promise.all(list.map((argument) => mistakesOf(argument(context))));
      return all.flatMap((some, n) => some.map((mistake) => `${n + 1}: ${mistake}`));
    });
    expect(mistakes).toEqual([]);
  });
});

test("a text that no platform accepts is refused before its step is stored", async () => {
  const bot = await startTestBot((made) =>
    made.on("dm.message", ({ reply }) => reply("x".repeat(1_000_001))),
  );
  await expect(bot.dm("hi")).rejects.toMatchObject({ code: "TOO_LONG" });
  const [event] = (await bot.bot.inbox.list()).events;
  expect((await bot.bot.inbox.show(event?.id ?? "")).steps).toEqual([]);
});

test.each([
  ["a bigint", 10n],
  ["null", null],
  ["an unreadable proxy", unreadable["a proxy whose traps all throw"]?.()],
])("fields that a middleware adds cannot be %s", async (_, fields) => {
  const refused = Promise.withResolvers<unknown>();
  const bot = await startTestBot((made) =>
    made
      .use(async (_context, next) => {
        return await next(fields as object).catch((error: unknown) => refused.resolve(error));
      })
      .on("dm.message", () => undefined),
  );
  await bot.dm("hi").catch(() => undefined);
  expect(await refused.promise).toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("fields"),
  });
});
