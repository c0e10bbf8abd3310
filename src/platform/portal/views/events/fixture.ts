import type { AnyEvent, CallRecord } from "../../../types.ts";

export interface Fixture {
  readonly name: string;
  readonly text: string;
}

/**
 * Generates a test for a bot created from the starter template. The test asserts that the event leads to the same
 * replies.
 *
 * @param calls API requests that the event caused, or `undefined` if the bot has not received the event yet
 */
export function fixtureOf(event: AnyEvent, calls?: readonly CallRecord[]): Fixture {
  const slug = (text: string) => text.replace(/[^A-Za-z0-9_]+/g, "-");
  const text = [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    'import { testBot } from "service-bot/testing";',
    'import { createBot } from "../src/bot.ts";',
    "",
    "/** The event as the platform sent it. */",
    `const event = ${literal(event)};`,
    "",
    `test(${JSON.stringify(`${event.type} ${event.id}`)}, async (t) => {`,
    "  const bot = await testBot(createBot);",
    "  t.after(() => bot.close());",
    "  const { status } = await bot.deliver(event);",
    "  assert.equal(status, 200);",
    ...expectation(calls),
    "});",
    "",
  ].join("\n");
  return { name: `${slug(event.type)}-${slug(event.id)}.test.ts`, text };
}

function expectation(calls: readonly CallRecord[] | undefined): readonly string[] {
  if (calls === undefined) {
    return ["  // The bot has not received this event yet. Assert its replies in bot.sent here."];
  }
  const answers = calls.map(answerIn).filter((answer) => answer !== undefined);
  const withImages = answers.some(({ images }) => images > 0);
  const expected = answers.map(({ images, ...answer }) =>
    withImages ? { ...answer, images } : answer,
  );
  const sent = withImages
    ? "bot.sent.map(({ imageKeys = [], ...said }) => ({ ...said, images: imageKeys.length }))"
    : "bot.sent";
  return [
    "  // The replies at the time of the recording.",
    `  assert.deepEqual(${sent}, ${literal(expected, "  ")});`,
  ];
}

const places: readonly (readonly [RegExp, string, string])[] = [
  [/^\/dm\/conversations\/([^/]+)\/messages$/, "dm", "conversationId"],
  [/^\/posts\/([^/]+)\/comments$/, "comment", "postId"],
  [/^\/posts$/, "post", ""],
];

/** Returns the content that a request created, in the format of `bot.sent`. */
function answerIn({ method, path, status, request }: CallRecord) {
  if (method !== "POST" || (status !== null && status >= 300)) return undefined;
  for (const [pattern, kind, name] of places) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const { text = "", imageKeys = [] } = bodyOf(request.body);
    const place = name === "" ? {} : { [name]: decodeURIComponent(found[1] ?? "") };
    return { kind, ...place, text, images: imageKeys.length };
  }
  return undefined;
}

function bodyOf(body: string): { readonly text?: string; readonly imageKeys?: readonly string[] } {
  try {
    return { ...Object(JSON.parse(body)) };
  } catch {
    return {};
  }
}

function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((member) => literal(member, deeper))
    : Object.entries(value).map(([key, member]) => `${keyOf(key)}: ${literal(member, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (members.length === 0) return `${open}${close}`;
  return `${open}\n${members.map((member) => `${deeper}${member},\n`).join("")}${indent}${close}`;
}

/** `__proto__` must be in brackets, because the key would otherwise set the prototype. */
function keyOf(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
