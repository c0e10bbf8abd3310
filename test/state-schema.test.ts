import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Bot, Router, type StandardSchemaV1 } from "../src/index.ts";
import { testBot } from "../src/testing/index.ts";
import { startTestBot } from "./support/world/test-bot.ts";

type Validate = StandardSchemaV1["~standard"]["validate"];

function schemaOf(validate: Validate): StandardSchemaV1<unknown, object> {
  const standard = { version: 1, vendor: "test", validate } as const;
  return { "~standard": standard } as StandardSchemaV1<unknown, object>;
}

const refused = (message: RegExp) =>
  expect.objectContaining({
    code: "INVALID_OPTION",
    message: expect.stringMatching(message),
  });

const oops = new Error("oops");

/** Schemas that give no event a state, with the problem and the remedy. */
const hopeless: readonly [string, StandardSchemaV1<unknown, object>, RegExp][] = [
  ["a property without a default", z.object({ name: z.string() }), /\$\.name: .*default/],
  ["a state that may be missing", z.object({ name: z.string() }).optional() as never, /default/],
  ["a text", z.string().default("") as never, /default/],
  ["null", z.null() as never, /default/],
  [
    "a schema that throws",
    schemaOf(() => {
      throw oops;
    }),
    /the schema threw oops.*default/,
  ],
  ["a date", z.object({ at: z.date().default(new Date(0)) }), /\$\.at: .*z\.coerce\.date/],
  ["a transformed text", z.object({ n: z.string().default("7").transform(Number) }), /\$\.n: /],
  [
    "a map",
    z.object({ seen: z.map(z.string(), z.string()).default(new Map()) }),
    /\$\.seen is a Map/,
  ],
  ["a bigint", z.object({ n: z.bigint().default(1n) }), /\$\.n is a bigint/],
  [
    "a large state",
    z.object({ text: z.string().default("x".repeat(70_000)) }),
    /the limit is 65536/,
  ],
];

const asynchronous = (schema: StandardSchemaV1): StandardSchemaV1<unknown, object> =>
  schemaOf(async (value) => await schema["~standard"].validate(value));

describe("a state schema without a usable initial state is refused", () => {
  test.each(hopeless)("by new Bot, for %s", (_name, state, message) => {
    expect(() => new Bot({ env: {}, state })).toThrow(refused(message));
  });

  test.each(hopeless)(
    "by start, if the schema is asynchronous, for %s",
    async (_name, schema, message) => {
      const state = asynchronous(schema);
      expect(() => new Bot({ env: {}, state })).not.toThrow();
      await expect(testBot((options) => new Bot({ ...options, state }))).rejects.toThrow(
        refused(message),
      );
    },
  );

  test.each([[{}], [null], [5], ["zod"], [{ "~standard": {} }], [() => ({})]])(
    "by new Bot, if it is no Standard Schema: %j",
    (state) => {
      expect(() => new Bot({ env: {}, state: state as never })).toThrow(refused(/Standard Schema/));
    },
  );
});

describe("a state schema is accepted", () => {
  test.each<[string, StandardSchemaV1<unknown, object>]>([
    ["with defaults for its properties", z.object({ count: z.number().default(0) })],
    ["with a default of its own", z.object({ name: z.string() }).default({ name: "Ada" })],
    [
      "that turns a date into a text and back",
      z.object({ at: z.coerce.date().default(new Date(0)) }),
    ],
    ["that fills what is missing", z.preprocess((given) => given ?? {}, z.object({}))],
    [
      "that throws for undefined, but not for {}",
      schemaOf((value) => ({
        value: { ...(value as { a: number }), a: (value as { a: number }).a },
      })),
    ],
    ["of a list", z.array(z.string()).default([])],
    ["that is asynchronous", z.object({ count: z.number().default(0) }).refine(async () => true)],
  ])("%s", async (_name, state) => {
    const bot = await testBot((options) => {
      const made = new Bot({ ...options, state });
      made.on("dm.message", async (ctx) => {
        await ctx.reply(JSON.stringify(await ctx.state()));
      });
      return made;
    });
    expect((await bot.dm("hi")).replies).toHaveLength(1);
  });

  test("of a module only where it is used, and schemas of events as they are", async () => {
    const cart = z.object({ items: z.array(z.string()) });
    const shop = new Router();
    shop.on("poll.closed", z.object({ votes: z.number() }), () => undefined);
    shop.onTimer("remind", z.object({ text: z.string() }), () => undefined);
    shop.on("dm.message", async (ctx) => void (await ctx.state("cart", cart)));
    const bot = await startTestBot((made) => made.use(shop));
    await expect(bot.dm("hi")).rejects.toThrow(refused(/\$\.items: .*default/));
  });
});
