import { trace } from "@opentelemetry/api";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { RetryLater } from "../../src/index.ts";
import { first } from "../support/first.ts";
import { kindOf } from "../support/log.ts";
import { unreadable } from "../support/unreadable.ts";
import { API_KEY, SECRET } from "../support/world/in-process.ts";
import { sqlite } from "../support/world/stores.ts";
import { Spans } from "./spans.ts";
import { TracedWorld } from "./world.ts";

const spans = new Spans();

beforeEach(() => spans.clear());
afterAll(() => spans.close());

/** Leaves out the bot's request for its own profile, which belongs to no event. */
const ofEvents = () =>
  spans.all.filter(({ name, parent }) => name !== "GET /me" || parent !== undefined);

const REPLY = "POST /dm/conversations/{id}/messages";

test("a delivery, its events, their steps and requests, and what handlers trace are one trace", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", async (ctx) => {
        await trace.getTracer("own").startActiveSpan("own work", async (span) => {
          await ctx.step("pay", () => 100);
          span.end();
        });
        await ctx.reply("hi");
      }),
    { tracing: "on" },
  );
  const events = [world.write("c_1", "one"), world.write("c_2", "two")];
  expect(await world.deliver(bot, events)).toBe(200);
  const [received] = spans.named("receive");
  const { traceId = "" } = received ?? {};
  const handled = ["  process dm.message", "    own work", "      step pay"];
  // Before the first reply, the bot asks the platform for the time.
  const reply = ["    step reply/1", `      ${REPLY}`];
  expect(spans.tree(traceId).toSorted()).toEqual(
    ["receive", ...handled, "    GET /me", ...reply, ...handled, ...reply].toSorted(),
  );
  expect(new Set(ofEvents().map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(received).toMatchObject({
    kind: "CONSUMER",
    parent: undefined,
    failed: false,
    attributes: {
      "http.response.status_code": 200,
      "messaging.batch.message_count": 2,
      "service_bot.stored": 2,
      "service_bot.duplicates": 0,
    },
  });
  expect(spans.named("process dm.message")[0]).toMatchObject({
    kind: "CONSUMER",
    failed: false,
    attributes: {
      "messaging.message.id": "evt_0001",
      "service_bot.event.type": "dm.message",
      "service_bot.lane": "dm:c_1",
      "service_bot.attempt": 1,
      "service_bot.source": "webhook",
      "service_bot.late": false,
      "service_bot.outcome": "done",
    },
  });
  expect(spans.named(REPLY)[0]).toMatchObject({
    kind: "CLIENT",
    attributes: { "http.request.method": "POST", "http.response.status_code": 201 },
  });
  // The log lines have the same id.
  expect(world.log.records.filter((line) => line["trace"] === traceId).map(kindOf)).toEqual(
    expect.arrayContaining(["delivery", "request", "step", "handled"]),
  );
});

describe("a delivery from a sender that traces", () => {
  const parent = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const [traceId, spanId] = parent.split("-");
  const headers = { traceparent: `00-${parent}` };

  test("is below that span", async () => {
    const world = new TracedWorld();
    const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
      tracing: "on",
    });
    await world.deliver(bot, [world.write("c_1", "hi")], { headers });
    expect(spans.named("receive")).toMatchObject([{ traceId, parent: spanId }]);
    expect(spans.named("process dm.message")).toMatchObject([{ traceId }]);
  });

  test("is in no trace if its signature is invalid", async () => {
    const world = new TracedWorld();
    const bot = await world.startBot((bot) => bot, { tracing: "on" });
    const forged = { ...headers, "x-service-signature": `t=1,v1=${"0".repeat(64)}` };
    expect(await world.deliver(bot, [world.write("c_1", "hi")], { headers: forged })).toBe(400);
    const [span] = spans.named("receive");
    expect(span).toMatchObject({
      parent: undefined,
      failed: true,
      attributes: { "http.response.status_code": 400, "error.type": "SIGNATURE_STALE" },
    });
    expect(span?.traceId).not.toBe(traceId);
  });

  test("is not sampled where that span is not", async () => {
    const world = new TracedWorld();
    const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
      tracing: "on",
    });
    const unsampled = { traceparent: `00-${parent.replace(/01$/, "00")}` };
    await world.deliver(bot, [world.write("c_1", "hi")], { headers: unsampled });
    expect(ofEvents()).toEqual([]);
    expect((await bot.inbox.show("evt_0001")).trace).toBe(traceId);
  });

  test("joins the log lines even without tracing", async () => {
    const world = new TracedWorld();
    const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined));
    await world.deliver(bot, [world.write("c_1", "hi")], { headers });
    expect(spans.all).toEqual([]);
    expect(world.log.records.find(({ attempt }) => attempt === 1)).toMatchObject({
      trace: traceId,
    });
  });
});

test("a retry by the next process is in the delivery's trace, and the failed span has an error", async () => {
  const world = new TracedWorld();
  const store = sqlite();
  const options = { tracing: "on", ...store } as const;
  const broken = await world.startBot(
    (bot) =>
      bot.on("dm.message", async (ctx) => {
        await ctx.reply("hi");
        throw new TypeError("a mistake");
      }),
    options,
  );
  await world.deliver(broken, [world.write("c_1", "hello")]);
  await broken.stop();
  const mended = await world.startBot(
    (bot) => bot.on("dm.message", async (ctx) => void (await ctx.reply("hi"))),
    options,
  );
  await world.clock.advance(1_000);
  await mended.idle();
  const { traceId } = first(spans.named("receive"));
  expect(spans.tree(traceId)).toEqual([
    "receive",
    "  process dm.message",
    ...["    GET /me", "    step reply/1", `      ${REPLY}`],
    "  process dm.message",
    ...["    GET /me", "    step reply/1"],
  ]);
  const [one, two] = spans.named("process dm.message");
  expect(one).toMatchObject({
    failed: true,
    attributes: { "service_bot.outcome": "failed", "error.type": "TypeError" },
  });
  expect(two).toMatchObject({
    failed: false,
    attributes: { "service_bot.outcome": "done", "service_bot.attempt": 2 },
  });
  const outcomes = spans
    .named("step reply/1")
    .map(({ attributes }) => attributes["service_bot.step.outcome"]);
  expect(outcomes).toEqual(["made", "recorded"]);
});

test("events from the log are below the span of its reading; a reading without new events has no span", async () => {
  const world = new TracedWorld();
  const read = Promise.withResolvers<void>();
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", async (ctx) => {
        await ctx.reply("hi");
        read.resolve();
      }),
    { tracing: "on", delivery: "polling", startFrom: "oldest" },
  );
  world.write("c_1", "hello");
  await world.clock.advance(4_000);
  await read.promise;
  await bot.idle();
  await world.clock.advance(20_000);
  expect(spans.named("poll")).toMatchObject([
    { parent: undefined, attributes: { "service_bot.stored": 1, "service_bot.duplicates": 0 } },
  ]);
  const { traceId } = first(spans.named("poll"));
  expect(spans.tree(traceId)).toEqual([
    "poll",
    "  process dm.message",
    ...["    GET /me", "    step reply/1", `      ${REPLY}`],
  ]);
  expect(new Set(ofEvents().map((span) => span.traceId))).toEqual(new Set([traceId]));
  const lines = world.log.records.filter((line) => line["trace"] === traceId).map(kindOf);
  expect(lines).toEqual(expect.arrayContaining(["page", "step", "handled"]));
});

test("an audit that finds only delivered events has no span", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
    ...{ tracing: "on", delivery: "auto", startFrom: "oldest", auditIntervalMs: 5_000 },
  });
  await world.deliver(bot, [world.write("c_1", "hi")]);
  const audits = () => world.platform.calls.filter(({ path }) => path === "/events").length;
  const before = audits();
  while (audits() < before + 4) await world.clock.advance(1_000);
  expect(spans.named("receive")).toHaveLength(1);
  expect(spans.named("poll")).toEqual([]);
});

test("what was stored by a bot that did not trace is a trace of its own, which names the id in the log", async () => {
  const world = new TracedWorld();
  const store = sqlite();
  const without = await world.startBot(
    (bot) =>
      bot.on("dm.message", () => {
        throw new RetryLater(1_000);
      }),
    store,
  );
  await world.deliver(without, [world.write("c_1", "hi")]);
  const { trace: id } = await without.inbox.show("evt_0001");
  await without.stop();
  const bot = await world.startBot((bot) => bot.on("dm.message", () => undefined), {
    ...store,
    tracing: "on",
  });
  await world.clock.advance(1_000);
  await bot.idle();
  const [span] = spans.named("process dm.message");
  expect(span).toMatchObject({ parent: undefined, attributes: { "service_bot.trace": id } });
  expect(span?.traceId).not.toBe(id);
});

test("a retried request has a span per try, and postponing an event is not a failure", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot(
    (bot) => bot.on("dm.message", async (ctx) => void (await ctx.client.posts.get("p_1"))),
    { tracing: "on", requestRetries: 1, requestTimeoutMs: 2_000 },
  );
  world.platform.refuse({ code: "SOMETHING", status: 503, path: "/posts/p_1", times: Infinity });
  const delivered = world.deliver(bot, [world.write("c_1", "hi")]);
  while (spans.named("GET /posts/{id}").length === 0) await new Promise(setImmediate);
  await world.clock.advance(1_000);
  await delivered;
  expect(spans.named("GET /posts/{id}").slice(0, 2)).toMatchObject([
    { failed: true, attributes: { "http.response.status_code": 503, "error.type": "API_ERROR" } },
    { failed: true, attributes: { "http.request.resend_count": 1 } },
  ]);
  expect(spans.named("process dm.message")[0]).toMatchObject({
    failed: false,
    attributes: { "service_bot.outcome": "released" },
  });
});

test("no span contains a message or a secret", async () => {
  const world = new TracedWorld();
  const words = 'meet me at the "old" pier';
  const answer = "the bot will be there at nine";
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", async (ctx) => {
        const { excerpt } = ctx.payload;
        await ctx.step(`look up ${excerpt}`, () => undefined);
        await ctx.reply(answer);
        await ctx.client.search({ text: excerpt });
        throw Object.assign(new Error(excerpt), { code: excerpt, name: excerpt });
      }),
    { tracing: "on", maxAttempts: 1 },
  );
  await world.deliver(bot, [world.write("c_1", words)]);
  await world.deliver(bot, [{ id: "x", type: "dm.message", payload: { excerpt: [words] } }]);
  expect(spans.all.map(({ name }) => name)).toContain("step look up [redacted]");
  expect(spans.named("GET /search")).toHaveLength(1);
  expect(spans.named("process dm.message")).toMatchObject([
    { failed: true, attributes: { "service_bot.outcome": "dead", "error.type": "Error" } },
  ]);
  for (const text of [words, JSON.stringify(words).slice(1, -1), answer, API_KEY, SECRET]) {
    expect(spans.text()).not.toContain(text);
  }
  // Positive control: the platform did receive these values.
  expect(JSON.stringify(world.platform.calls)).toContain(answer);
});

test("an error that cannot be read ends its span, and not the process", async () => {
  const world = new TracedWorld();
  const bot = await world.startBot(
    (bot) =>
      bot.on("dm.message", (ctx) =>
        ctx.step("pay", () => {
          const values = Object.values(unreadable);
          throw values[ctx.attempt % values.length]?.();
        }),
      ),
    { tracing: "on", maxAttempts: Object.keys(unreadable).length },
  );
  await world.deliver(bot, [world.write("c_1", "one")]);
  for (const _ of Object.keys(unreadable)) {
    await bot.idle();
    await world.clock.advance(1_000);
  }
  await bot.idle();
  const runs = spans.named("process dm.message");
  expect(runs).toHaveLength(Object.keys(unreadable).length);
  expect(runs.every(({ failed }) => failed)).toBe(true);
});
