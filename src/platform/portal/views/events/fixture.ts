import type { AnyEvent, CallRecord, CallSummary } from "../../../types.ts";

/** An event and what the bot did because of it. */
export interface Recorded {
  readonly event: AnyEvent;
  readonly calls: readonly CallSummary[];
  /** Whether the bot has had it. */
  readonly handled: boolean;
}

export interface Fixture {
  /** Of the file, below `test/`. */
  readonly name: string;
  readonly text: string;
}

/** What the bot said, as `bot.sent` of a test has it, and how many images it put to it. */
interface Said {
  readonly where: Readonly<Record<string, string>>;
  readonly text: string;
  readonly images: number;
}

/**
 * A test of a bot that was made from the template "starter": the event is delivered to it, and it says what it said when the event was recorded.
 *
 * @param calls what the bot did because of it; undefined where the bot has not had it yet
 */
export function fixtureOf(event: AnyEvent, calls?: readonly CallRecord[]): Fixture {
  const slug = (text: string) => text.replace(/[^A-Za-z0-9_]+/g, "-");
  const text = [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    'import { testBot } from "service-bot/testing";',
    'import { createBot } from "../src/bot.ts";',
    "",
    "/** As the platform sent it. */",
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
    return [
      "  // The bot has not had it yet. Say here what it should do: bot.sent is what it says.",
    ];
  }
  const said = calls.map(saidIn).filter((each) => each !== undefined);
  const list = said.map(({ where, text, images }) => ({
    ...where,
    text,
    ...(said.some((each) => each.images > 0) ? { images } : {}),
  }));
  const sent = said.some(({ images }) => images > 0)
    ? "bot.sent.map(({ imageKeys = [], ...said }) => ({ ...said, images: imageKeys.length }))"
    : "bot.sent";
  return [
    "  // What it said when this was recorded.",
    `  assert.deepEqual(${sent}, ${literal(list, "  ")});`,
  ];
}

const places: readonly (readonly [RegExp, string, string])[] = [
  [/^\/dm\/conversations\/([^/]+)\/messages$/, "dm", "conversationId"],
  [/^\/posts\/([^/]+)\/comments$/, "comment", "postId"],
  [/^\/posts$/, "post", ""],
];

/** What a call said; undefined where it said nothing. */
function saidIn({ method, path, status, request }: CallRecord): Said | undefined {
  if (method !== "POST" || (status !== null && status >= 300)) return undefined;
  for (const [pattern, kind, name] of places) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const { text = "", imageKeys = [] } = bodyOf(request.body);
    const where = name === "" ? { kind } : { kind, [name]: decodeURIComponent(found[1] ?? "") };
    return { where, text, images: imageKeys.length };
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

/** A value of JSON as TypeScript, as a formatter leaves it. */
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

/** In brackets, for `__proto__: …` would not be a field. */
function keyOf(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}
