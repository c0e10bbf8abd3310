import { describe, expect, test } from "vitest";
import { Bot } from "../faces/bot.ts";
import { createLogger } from "../faces/core.ts";
import { SIGNATURE_HEADER, sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";

const canaries = {
  apiKey: "key-canary-0d9c4b71",
  webhookSecret: "whsec_canary_5e1f8a62",
  words: 'meet me at the "old" pier, ada said',
  answer: "the bot will be there at nine, it replied",
};

/** Returns the forms a value could take in a line: plain, escaped, hex, and base64 at any offset. */
function forms(value: string): string[] {
  const spellings = [value, JSON.stringify(value).slice(1, -1)];
  return spellings.flatMap((text) => [
    text,
    Buffer.from(text).toString("hex"),
    // In base64, the first and last characters depend on the neighboring bytes.
    ...["", "x", "xx"].map((before) =>
      Buffer.from(before + text)
        .toString("base64")
        .slice(4, -4),
    ),
  ]);
}

function leaks(output: string): string[] {
  return Object.entries(canaries)
    .filter(([, value]) =>
      forms(value).some((form) => output.toLowerCase().includes(form.toLowerCase())),
    )
    .map(([name]) => name);
}

const bodies: readonly string[] = [
  // A message whose handler replies, and messages whose handlers fail in every way.
  ...["reply", "throw", "cause", "api", "reject", "observer"].map((how, index) =>
    JSON.stringify({
      events: [
        {
          id: String(index + 1),
          type: "dm.message",
          createdAt: "",
          payload: {
            conversationId: `c_${how}`,
            from: { userId: "u_1", username: "ada", name: "Ada" },
            excerpt: canaries.words,
          },
        },
      ],
    }),
  ),
  // Events that cannot be handled, and bodies that cannot be parsed.
  JSON.stringify({
    events: [{ id: "90", type: "dm.message", payload: { excerpt: [canaries.words] } }],
  }),
  JSON.stringify({ events: [canaries.words, { [canaries.words]: canaries.words }] }),
  JSON.stringify({ events: canaries.words }),
  `{"events":["${canaries.words.replaceAll('"', "")}`,
];

/** A platform that rejects every request and echoes it, including the token. */
const indiscreet = async (_url: string, init: RequestInit): Promise<Response> => {
  const { authorization } = init.headers as Record<string, string>;
  const message = `you sent ${authorization}: ${String(init.body)}`;
  return Response.json({ error: { code: "VALIDATION", message } }, { status: 400 });
};

async function run(options: { careless: boolean }): Promise<string> {
  const output: string[] = [];
  const destination = { write: (line: string) => void output.push(line) };
  const clock = new ManualClock();
  const bot = new Bot({
    env: {},
    baseUrl: "http://platform.test",
    apiKey: canaries.apiKey,
    webhookSecret: canaries.webhookSecret,
    databaseUrl: "file::memory:",
    maxAttempts: 2,
    logger: createLogger({
      level: "trace",
      secrets: [canaries.apiKey, canaries.webhookSecret],
      destination,
    }),
    fetch: indiscreet,
    clock,
  });
  bot.on("dm.message", async (ctx) => {
    ctx.log.info({ event: ctx.event }, "got");
    const { conversationId, excerpt } = ctx.payload;
    if (options.careless) ctx.log.info(`got: ${excerpt}`);
    if (conversationId === "c_reply") await ctx.reply(canaries.answer);
    if (conversationId === "c_cause") throw new Error("x", { cause: new Error(excerpt) });
    if (conversationId === "c_api") await ctx.client.me();
    if (conversationId === "c_reject") return Promise.reject({ excerpt });
    throw new TypeError(`cannot understand "${excerpt}"`);
  });
  bot.onError((_error, ctx) => {
    if (ctx.event.id === "6") throw new Error(`cannot report ${JSON.stringify(ctx.payload)}`);
  });
  await bot.start({ listen: false });
  for (const body of bodies) {
    for (const secret of [canaries.webhookSecret, `${canaries.webhookSecret}_old`]) {
      const headers = { [SIGNATURE_HEADER]: sign(body, secret, clock.now() / 1000) };
      const request = new Request("http://bot.test/webhook", { method: "POST", body, headers });
      output.push(await (await bot.handle(request)).text());
    }
  }
  await bot.idle();
  for (let attempt = 0; attempt < 3; attempt++) {
    await clock.advance(300_000);
    await bot.idle();
  }
  const headers = { authorization: `Bearer ${canaries.apiKey}` };
  const status = await bot.handle(new Request("http://bot.test/readyz?verbose", { headers }));
  output.push(await status.text(), JSON.stringify(await bot.status()));
  await bot.stop();
  return output.join("\n");
}

describe("a bot that meets every kind of failure", () => {
  test("shows neither secrets nor user text, whether plain, base64 or hex", async () => {
    const output = await run({ careless: false });
    // Positive control: the failures did happen, and were logged.
    for (const told of [
      "dead letter",
      "attempt failed",
      "VALIDATION",
      "cannot understand",
      "SIGNATURE_MISMATCH",
      "BODY_INVALID",
      "an onError observer failed",
      '"lastPollError":{"code":"VALIDATION","status":400}',
      '"deadLetters":',
    ]) {
      expect(output).toContain(told);
    }
    expect(leaks(output)).toEqual([]);
  });

  test("shows what a careless handler writes into the log by itself", async () => {
    expect(leaks(await run({ careless: true }))).toEqual(["words"]);
  });
});

test("the search finds a canary in each of its forms", () => {
  for (const value of Object.values(canaries)) {
    const hidden = Buffer.from(`{"x":${JSON.stringify(value)}}`);
    for (const encoding of ["utf8", "base64", "hex"] as const) {
      expect(leaks(`line ${hidden.toString(encoding)}`)).toHaveLength(1);
    }
  }
  expect(leaks("nothing of the kind")).toEqual([]);
});
