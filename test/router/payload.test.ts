import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { StandardSchemaV1 } from "../faces/core.ts";
import { isSchema, validate } from "../faces/core.ts";
import { Router, routesOf } from "../faces/router.ts";
import { unreadable } from "../support/unreadable.ts";
import { fakeClient, jobFor, run } from "./support.ts";

const { client } = fakeClient();

const pollClosed = z.object({ question: z.string(), votes: z.number().default(0) });

/** An asynchronous schema that is a function, as in some libraries. */
const shouting: StandardSchemaV1<unknown, string> = Object.assign(() => undefined, {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: async (value: unknown) =>
      typeof value === "string"
        ? { value: value.toUpperCase() }
        : { issues: [{ message: "no text", path: [{ key: "text" }, 0] }] },
  },
});

test("a custom type has the payload that its schema returns, beside the one that came", async () => {
  const seen: unknown[] = [];
  const router = new Router();
  router.on("poll.closed", pollClosed, (ctx) => {
    expectTypeOf(ctx.payload).toEqualTypeOf<{ question: string; votes: number }>();
    seen.push(ctx.payload, ctx.event.payload);
  });
  router.onUnknown((ctx) => {
    expectTypeOf(ctx.payload).toEqualTypeOf<Readonly<Record<string, unknown>>>();
    seen.push("unknown");
  });
  const job = jobFor("poll.closed", { question: "tea?", more: 1 });
  await run(router, job, client);
  const came = { question: "tea?", more: 1 };
  expect(seen).toEqual([{ question: "tea?", votes: 0 }, came]);
  expect(routesOf(router).handledTypes).toEqual(["poll.closed"]);
});

test("an event that does not fit is refused with the path, without the texts in it", async () => {
  const router = new Router().on("poll.closed", pollClosed, () => undefined);
  const job = jobFor("poll.closed", { question: ["a secret"], votes: "many" });
  const error = await run(router, job, client).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "PAYLOAD_INVALID" });
  const { message } = error as Error;
  expect(message).toMatch(/poll\.closed.*\$\.question: .*; \$\.votes: /);
  expect(message).not.toContain("secret");
});

test("the value's text is removed from a library's error", async () => {
  const quoting: StandardSchemaV1 = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ issues: [{ message: `was ${JSON.stringify(value)}` }] }),
    },
  };
  const value = { who: "ada lovelace", list: ['says "hi"'] };
  const result = await validate(quoting, value);
  expect(result).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^\$: was .*redacted/),
  });
  expect(JSON.stringify(result)).not.toMatch(/lovelace|says/);
});

test("a schema may be a function, and asynchronous; its paths may be objects", async () => {
  expect(isSchema(shouting)).toBe(true);
  expect(await validate(shouting, "hi")).toEqual({ ok: true, value: "HI" });
  expect(await validate(shouting, 5)).toEqual({ ok: false, problem: "$.text[0]: no text" });
  for (const other of [undefined, null, {}, () => undefined, { "~standard": {} }]) {
    expect(isSchema(other)).toBe(false);
  }
});

test("a path shows a key bare only if it is a plain name", async () => {
  const path = ["a", "b c", "x.y", '"', { key: "é\n" }, 0];
  const schema: StandardSchemaV1 = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: () => ({ issues: [{ message: "no", path }] }),
    },
  };
  const problem = '$.a["b c"]["x.y"]["\\""]["é\\n"][0]: no';
  expect(await validate(schema, 1)).toEqual({ ok: false, problem });
});

test("a timer has the data that its schema returns", async () => {
  const seen: unknown[] = [];
  const router = new Router().onTimer("remind", shouting, (ctx) => {
    expectTypeOf(ctx.payload.data).toBeString();
    seen.push(ctx.payload.data, ctx.payload["conversationId"]);
  });
  await run(router, jobFor("timer:remind", { data: "tea", conversationId: "c_1" }), client);
  expect(seen).toEqual(["TEA", "c_1"]);
  const wrong = run(router, jobFor("timer:remind", { data: 5 }), client);
  await expect(wrong).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
});

test("middleware of a handler with a schema has the checked payload, too", async () => {
  const seen: unknown[] = [];
  const router = new Router().on(
    "poll.closed",
    pollClosed,
    (ctx, next) => next({ loud: ctx.payload.question.toUpperCase() }),
    (ctx) => seen.push(ctx.loud),
    { concurrency: 1 },
  );
  await run(router, jobFor("poll.closed", { question: "tea?" }), client);
  expect(seen).toEqual(["TEA?"]);
});

const answering = (validate: () => unknown): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate: validate as never },
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a text", "no"],
  ["issues that are no list", { issues: "many" }],
])("a schema that returns %s is an invalid option", async (_name, answer) => {
  await expect(
    validate(
      answering(() => answer),
      1,
    ),
  ).rejects.toMatchObject({ code: "INVALID_OPTION" });
});

test("issues may be inherited, as the issues of arktype are", async () => {
  const inherited = Object.create({ issues: [{ message: "no" }] });
  expect(
    await validate(
      answering(() => inherited),
      1,
    ),
  ).toEqual({ ok: false, problem: "$: no" });
});

test.each(Object.entries(unreadable))("an issue may be %s, or contain it", async (_name, value) => {
  const issues = [value(), { message: value() }, { message: "no", path: [value()] }];
  for (const issue of issues) {
    const result = await validate(
      answering(() => ({ issues: [issue] })),
      1,
    );
    expect(result).toMatchObject({ ok: false, problem: expect.stringMatching(/^\$/) });
  }
  expect(isSchema(value())).toBe(false);
});
