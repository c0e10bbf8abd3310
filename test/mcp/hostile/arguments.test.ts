import fc from "fast-check";
import { expect, test } from "vitest";
import { connectDirectly, failureIn } from "../call.ts";
import { everyTool, writingTools } from "../every-tool.ts";
import { allTools, listTools } from "../face.ts";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maximum?: number;
}

const kinds: Readonly<Record<string, unknown>> = {
  null: null,
  number: 5,
  string: "5",
  boolean: true,
  object: { toString: "x" },
  array: [],
};

function wrongFor(name: string, schema: Schema): unknown[] {
  const { type = "", minLength = 0, maxLength } = schema;
  const others = Object.entries(kinds).filter(
    ([kind]) => kind !== type.replace("integer", "number"),
  );
  const wrong = others.map(([, value]) => value);
  if (type === "integer") wrong.push(0, 51, 1.5, -1, 1e300);
  if (type === "string") wrong.push("\ud800", "half \udc00 of it");
  if (type === "string" && minLength > 0) wrong.push("");
  if (maxLength !== undefined) wrong.push("x".repeat(maxLength + 1), "é".repeat(maxLength * 10));
  if (type === "array") wrong.push([null], [5], [""], ["x".repeat(100_000)], ["\ud800"]);
  if (/^(postId|conversationId|username)$/.test(name)) wrong.push(".", "..");
  if (name === "username") wrong.push("@", "@.", "@..");
  return schema.enum === undefined ? wrong : [...wrong, "image/svg+xml"];
}

function tools() {
  const platform = { requests: 0 };
  const fetch = async () => {
    platform.requests += 1;
    return Response.json({});
  };
  return { platform, call: connectDirectly({ baseUrl: "http://platform.test", fetch }) };
}

test("an argument of the wrong type is rejected by name, and the platform gets no request", async () => {
  const { platform, call } = tools();
  let tried = 0;
  for (const { name, inputSchema } of listTools(allTools)) {
    const right = everyTool.find(([tool]) => tool === name)?.[1] ?? {};
    const properties = Object.entries(inputSchema.properties ?? {}) as [string, Schema][];
    for (const [argument, schema] of properties) {
      for (const value of wrongFor(argument, schema)) {
        // A call takes either `url` or `dataBase64`.
        const rest = argument === "dataBase64" ? {} : right;
        const called = await call(name, { ...rest, [argument]: value });
        const { code, message, retryable } = failureIn(called);
        const which = `${name} ${argument} ${JSON.stringify(value).slice(0, 50)}: ${message}`;
        expect(code, which).toBe("VALIDATION");
        expect(message, which).toMatch(new RegExp(`(^|; )${argument}\\b`));
        expect(message.length, which).toBeLessThan(1_200);
        expect(retryable).toBe(false);
        tried += 1;
      }
    }
  }
  expect(tried).toBeGreaterThan(200);
  expect(platform.requests).toBe(0);
});

test("an argument that is missing, or that there is none of, is named", async () => {
  const { platform, call } = tools();
  for (const { name, inputSchema } of listTools(allTools)) {
    for (const required of inputSchema.required ?? []) {
      const { code, message } = failureIn(await call(name, {}));
      expect([code, message]).toEqual(["VALIDATION", expect.stringContaining(`${required}: `)]);
    }
    const right = everyTool.find(([tool]) => tool === name)?.[1];
    for (const unknown of ["limits", "constructor", "toString", "a\nb\u2028", "x".repeat(9_000)]) {
      const args = { ...right, [unknown]: 1 };
      const { code, message } = failureIn(await call(name, args));
      expect(code).toBe("VALIDATION");
      expect(message).toContain(
        unknown.includes("\n") ? "a\\u000ab\\u2028" : unknown.slice(0, 100),
      );
      expect(message.length).toBeLessThan(300);
    }
  }
  expect(platform.requests).toBe(0);
});

test("an empty write and five images are refused with the platform's codes", async () => {
  const { platform, call } = tools();
  for (const [name, { text, ...where }] of writingTools.slice(0, 3)) {
    for (const nothing of [{}, { text: "" }, { imageKeys: [] }, { text: "", imageKeys: [] }]) {
      expect(failureIn(await call(name, { ...where, ...nothing })).code).toBe("EMPTY");
    }
    const imageKeys = ["1", "2", "3", "4", "5"];
    const { code, message } = failureIn(await call(name, { ...where, text, imageKeys }));
    expect([code, message]).toEqual(["TOO_MANY_IMAGES", expect.stringMatching(/imageKeys.*4/)]);
  }
  expect(platform.requests).toBe(0);
});

test("arguments of any JSON get a result", async () => {
  const { call } = tools();
  const names = ["limit", "cursor", "postId", "text", "imageKeys", "query", "url", "__proto__"];
  const key = fc.oneof(fc.constantFrom(...names), fc.string());
  const tool = fc.constantFrom(...everyTool.map(([name]) => name));
  const property = fc.asyncProperty(
    tool,
    fc.dictionary(key, fc.jsonValue()),
    async (name, args) => {
      const called = await call(name, args);
      if (called.result.isError === true) expect(failureIn(called).code).not.toBe("INTERNAL");
    },
  );
  // If a run fails, fast-check prints the seed.
  await fc.assert(property, { numRuns: 150 });
});
