import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { Bot } from "../src/index.ts";
import { serve } from "./client/api.ts";
import { BodyBudget } from "./faces/core.ts";
import { defaultLane } from "./faces/events.ts";
import { type NewEvent, readBatch } from "./faces/inbox.ts";
import { SqliteInbox } from "./faces/inbox-sqlite.ts";
import { CURSOR, LogReader } from "./faces/poller.ts";
import { Receiver } from "./faces/receiver.ts";
import { sign } from "./faces/signature.ts";
import { ManualClock } from "./faces/testing.ts";
import { FakeLog } from "./poller/fake-log.ts";
import { delivery, makeRig, web } from "./receiver/support.ts";
import { logSink } from "./support/log.ts";
import { mulberry32 } from "./support/mulberry32.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const SECRET = "whsec_of_this_test";
const MINUTE = 60_000;

function signed(events: readonly unknown[], now = Date.now()) {
  const body = JSON.stringify({ events });
  return { body, signature: sign(body, SECRET, now / 1000) };
}

describe("the same events by webhook and from the log", () => {
  /** Creates a receiver and a poller on the same file. Their writes wait for the test. */
  function setUp() {
    const clock = new ManualClock(1_800_000_000_000);
    const log = new FakeLog(clock);
    for (const id of ["1", "2", "3"]) log.add(id, "follow", clock.now() - MINUTE);
    const inbox = new SqliteInbox({ file: join(temporaryFolder(), "bot.db"), clock });
    onTestFinished(() => inbox.close());
    const waiting = { webhook: Promise.withResolvers<void>(), poll: Promise.withResolvers<void>() };
    const letIn = { webhook: Promise.withResolvers<void>(), poll: Promise.withResolvers<void>() };
    const put: SqliteInbox["put"] = async (events, source, cursors) => {
      waiting[source].resolve();
      await letIn[source].promise;
      return await inbox.put(events, source, cursors);
    };
    const receiver = new Receiver({
      inbox: { put },
      path: "/webhook",
      maxBodyBytes: 1_000_000,
      budget: new BodyBudget(1_000_000),
      secrets: [SECRET],
      laneOf: defaultLane,
      clock,
      log: logSink().log,
    });
    const reader = new LogReader({
      inbox: { put, cursor: (name) => inbox.cursor(name) },
      client: log,
      laneOf: defaultLane,
      log: logSink().log,
      startFrom: "oldest",
      platformClock: { now: () => clock.now() },
    });
    const doors = {
      webhook: async (ids: readonly string[]) => {
        const events = log.entries.filter(({ id }) => ids.includes(id));
        const { body, signature } = signed(events, clock.now());
        const answer = await receiver.receive({
          method: "POST",
          path: "/webhook",
          query: "",
          headers: { "x-service-signature": signature },
          read: async () => Buffer.from(body),
          drop: () => undefined,
        });
        if (answer === undefined) throw new Error("not the webhook");
        const { stored }: { stored: number } = JSON.parse(answer.body);
        return { status: answer.status, stored };
      },
      poll: async () => {
        const { signal } = new AbortController();
        await reader.open(signal);
        return await reader.read("cursor", signal);
      },
    };
    return { inbox, doors, waiting, letIn };
  }

  const orders = [
    ["webhook", "poll"],
    ["poll", "webhook"],
  ] as const;

  test.each([
    ...orders.map((order) => ({ order, together: true, ids: ["1", "2", "3"] })),
    ...orders.map((order) => ({ order, together: true, ids: ["2"] })),
    ...orders.map((order) => ({ order, together: false, ids: ["1", "2", "3"] })),
    ...orders.map((order) => ({ order, together: false, ids: ["2"] })),
  ])(
    "come in once when $order.0 is before $order.1, in one commit: $together, delivered: $ids",
    async ({ order, together, ids }) => {
      const { inbox, doors, waiting, letIn } = setUp();
      const delivered = doors.webhook(ids);
      const read = doors.poll();
      await Promise.all([waiting.webhook.promise, waiting.poll.promise]);
      const [one, other] = order;
      // Writes in the same event loop turn share a commit.
      letIn[one].resolve();
      if (!together) await (one === "webhook" ? delivered : read);
      letIn[other].resolve();
      const answer = await delivered;
      const found = await read;
      expect(answer.status).toBe(200);
      expect(answer.stored + found.length).toBe(3);
      expect(answer.stored).toBe(one === "webhook" ? ids.length : 0);
      expect(await inbox.stats()).toMatchObject({ pending: 3 });
      expect(await inbox.cursor(CURSOR)).toBe("3");
      const runs: string[] = [];
      for (;;) {
        const claims = await inbox.claim(10, MINUTE);
        if (claims.length === 0) break;
        for (const claim of claims) {
          runs.push(claim.id);
          await inbox.complete(claim);
        }
      }
      expect(runs).toEqual(["1", "2", "3"]);
    },
  );
});

describe("the same bytes in a delivery and in a page of the log", () => {
  const at = '"createdAt":"2026-01-02T03:04:05.678Z"';
  const dm = (id: string, excerpt: string, more = "") =>
    `{"id":${id},"type":"dm.message","payload":{"conversationId":"c_${excerpt.length}",` +
    `"from":{"username":"ada"},"excerpt":"${excerpt}"${more}},${at}}`;

  /** Sends a list of events in both ways. Each character is one byte. */
  async function read(list: string): Promise<{ delivered: NewEvent[]; polled: NewEvent[] }> {
    const { endpoints, inbox } = makeRig({ maxBodyBytes: 1_000_000 });
    const body = Buffer.from(`{"events":[${list}]}`, "latin1");
    const send = await web.open(endpoints);
    expect(await send(delivery(body))).toMatchObject({ status: 200 });
    const { client } = await serve((response) => {
      // Small chunks end inside characters.
      const page = Buffer.from(`{"events":[${list}],"cursor":"1"}`, "latin1");
      response.writeHead(200, { "content-type": "application/json" });
      for (let at = 0; at < page.length; at += 7) response.write(page.subarray(at, at + 7));
      response.end();
    });
    const { events } = await client.events();
    return { delivered: [...inbox.stored.values()], polled: readBatch(events, defaultLane) };
  }

  /** Returns an event with its body as the inbox reads it back. A body that is nested too deeply is not kept. */
  const parsed = ({ body, event: _, ...rest }: NewEvent) => {
    return { ...rest, body: JSON.stringify(body === "" ? "" : JSON.parse(body)) };
  };

  test.each([
    ["a text cut inside a character", dm('"1"', "caf\xc3")],
    ["a text cut after three of four bytes", dm('"1"', "\xf0\x9f\x98")],
    ["a text that begins inside a character", dm('"1"', "\x98\x80 hi")],
    ["overlong forms", dm('"1"', "\xc0\xaf\xe0\x80\xaf")],
    ["surrogates in UTF-8", dm('"1"', "\xed\xa0\xbd\xed\xb8\x80")],
    ["bytes beyond Unicode", dm('"1"', "\xf5\x80\x80\x80\xff")],
    ["Latin-1", dm('"1"', "\xe9t\xe9")],
    ["a byte order mark in a text", dm('"1"', "\xef\xbb\xbfhi")],
    ["valid characters", dm('"1"', "\xc3\xa9 \xf0\x9f\x98\x80")],
    ["invalid bytes in a conversation's id", dm('"1"', "x").replace("c_1", "c_\xff")],
    ["invalid bytes in an event's id", dm('"\xc3"', "x")],
    ["invalid bytes in a name of a field", dm('"1"', "x", ',"\xff":1')],
  ])("are the same events: %s", async (_, event) => {
    const others = [dm('"0"', "before"), dm('"2"', "after")];
    const { delivered, polled } = await read([others[0], event, others[1]].join(","));
    expect(delivered.map(parsed)).toEqual(polled.map(parsed));
    expect(delivered).toHaveLength(3);
    const usable = delivered.filter(({ unusable }) => unusable === undefined);
    expect(usable.map(({ id }) => id)).toEqual(
      event.includes('"id":"1"') ? ["0", "1", "2"] : ["0", "2"],
    );
  });

  test.each([
    ["under an escaped name", dm("1", "x").replace('"id":1', '"\\u0069d": 9007199254740993')],
    [
      "beside deeply nested values",
      dm("9007199254740993", "x", `,"a":${"[".repeat(9_999)}${"]".repeat(9_999)}`),
    ],
    ["given twice", dm("1", "x").replace('"id":1', '"id":1,"id":9007199254740993')],
  ])("a number beyond 2^53 keeps its digits %s", async (_, event) => {
    const { delivered, polled } = await read([event, dm('"9007199254740992"', "y")].join(","));
    expect(delivered.map(parsed)).toEqual(polled.map(parsed));
    expect(delivered.map(({ id }) => id)).toEqual(["9007199254740992", "9007199254740993"]);
  });

  test.each([
    ["conversationId", dm('"1"', "x").replace('"c_1"', "9007199254740993"), "dm:9007199254740993"],
    [
      "an escaped conversationId",
      dm('"1"', "x").replace('"conversationId":"c_1"', '"conversation\\u0049d":9007199254740993'),
      "dm:9007199254740993",
    ],
    [
      "a username",
      `{"id":"1","type":"follow","payload":{"actor":{"username":9007199254740993}},${at}}`,
      "user:9007199254740993",
    ],
    [
      "postId in a new type",
      `{"id":"1","type":"new","payload":{"postId":9007199254740993},${at}}`,
      "post:9007199254740993",
    ],
  ])("a lane keeps the digits of %s", async (_, event, lane) => {
    const { delivered, polled } = await read(event);
    expect(delivered.map(parsed)).toEqual(polled.map(parsed));
    expect(delivered).toMatchObject([{ lane }]);
  });

  test.each(["1e400", "9007199254740993.5", "1.5", "9007199254740993e1", "null"])(
    "an event whose id is %s is kept as a dead letter",
    async (id) => {
      const { delivered, polled } = await read([dm(id, "x"), dm('"2"', "y")].join(","));
      expect(delivered.map(parsed)).toEqual(polled.map(parsed));
      expect(delivered.map(({ unusable }) => unusable !== undefined).sort()).toEqual([false, true]);
    },
  );

  test.each([
    ["-0", "0"],
    ["1.0", "1"],
    ["1e3", "1000"],
  ])("the id %s is %s", async (id, text) => {
    const { delivered, polled } = await read(dm(id, "x"));
    expect(delivered.map(parsed)).toEqual(polled.map(parsed));
    expect(delivered).toMatchObject([{ id: text }]);
  });

  test("ids with different invalid bytes are different events", async () => {
    const { delivered, polled } = await read(
      [dm('"\xc3"', "one"), dm('"\xe2"', "other")].join(","),
    );
    expect(delivered.map(parsed)).toEqual(polled.map(parsed));
    expect(new Set(delivered.map(({ id }) => id)).size).toBe(2);
  });
});

interface LoggedEvent {
  readonly id: string;
  readonly [field: string]: unknown;
}

function follow(id: string): LoggedEvent {
  const actor = { username: `person-${id}`, name: "Somebody" };
  const payload = { actor, entityType: "user", entityId: "u_bot" };
  return { id, type: "follow", payload, createdAt: new Date().toISOString() };
}

async function openBot() {
  const log: LoggedEvent[] = [];
  const runs: string[] = [];
  let asked = Promise.withResolvers<void>();
  let mayAnswer = Promise.withResolvers<void>();
  const bot = new Bot({
    env: {},
    baseUrl: "http://platform.invalid",
    apiKey: "sbk_of_this_test",
    webhookSecret: SECRET,
    databaseUrl: `file:${join(temporaryFolder(), "bot.db")}`,
    startFrom: "oldest",
    auditIntervalMs: 50,
    pollIntervalMs: 50,
    logger: logSink().log,
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(String(url));
      if (!pathname.endsWith("/events")) return Response.json({ username: "bot" });
      const since = searchParams.get("since");
      asked.resolve();
      await mayAnswer.promise;
      const rest = log.filter(({ id }) => since === null || Number(id) > Number(since));
      const events = rest.slice(0, Number(searchParams.get("limit")));
      return Response.json({ events, cursor: events.at(-1)?.id ?? since ?? "" });
    },
  });
  bot.on("follow", async (ctx) => {
    await turn();
    runs.push(ctx.event.id);
  });
  await bot.start({ listen: false });
  onTestFinished(async () => {
    mayAnswer.resolve();
    await bot.stop();
  });
  return {
    bot,
    log,
    runs,
    asked: () => asked.promise,
    /** Responds to the poll. Resolves at the next poll, when the events have been stored. */
    answer: async () => {
      const before = mayAnswer;
      mayAnswer = Promise.withResolvers<void>();
      asked = Promise.withResolvers<void>();
      before.resolve();
      await asked.promise;
    },
    deliver: async (events: readonly unknown[]) => {
      const { body, signature } = signed(events);
      const headers = { "x-service-signature": signature };
      const request = new Request("http://bot/webhook", { method: "POST", headers, body });
      const { status } = await bot.handle(request);
      return status;
    },
  };
}

const SEED = Number(process.env.SEED ?? 20261120);

test(`a whole bot runs each event once, whichever door is a moment ahead (SEED=${SEED})`, async () => {
  const random = mulberry32(SEED);
  const upTo = (limit: number) => Math.floor(random() * limit);
  const { bot, log, runs, asked, answer, deliver } = await openBot();
  const after = async <T>(turns: number, work: () => Promise<T>) => {
    for (let left = turns; left > 0; left--) await turn();
    return await work();
  };
  for (let round = 0; round < 30; round++) {
    await asked();
    const events = Array.from({ length: 1 + upTo(4) }, (_, n) => follow(`${log.length + n + 1}`));
    log.push(...events);
    const repeats = Array.from({ length: 1 + upTo(3) }, () =>
      after(upTo(8), () => deliver(events.filter(() => random() < 0.8))),
    );
    const read = after(upTo(8), answer);
    expect(new Set(await Promise.all(repeats))).toEqual(new Set([200]));
    await read;
  }
  // Let the bot poll until it has read the remaining events.
  for (let pages = 0; pages < 4; pages++) await answer();
  await bot.idle();
  expect(runs.toSorted()).toEqual(log.map(({ id }) => id).toSorted());
  expect((await bot.status()).log?.lastPollError).toBeUndefined();
  expect(await bot.inbox.stats()).toMatchObject({ pending: 0, dead: 0, done: log.length });
});

describe("a batch with one broken event", () => {
  const broken = { ...follow("2"), payload: { actor: null } };
  const batch = [follow("1"), broken, follow("3")];

  test("by webhook is answered with 200; the others are handled, and it is kept", async () => {
    const { bot, runs, deliver } = await openBot();
    expect(await deliver(batch)).toBe(200);
    await bot.idle();
    expect(runs.toSorted()).toEqual(["1", "3"]);
    const { events } = await bot.inbox.list({ state: "dead" });
    expect(events).toMatchObject([{ id: "2", error: expect.stringContaining("payload.actor") }]);
  });

  test("from the log is read over: the others are handled, and it is kept", async () => {
    const { bot, log, runs, answer } = await openBot();
    log.push(...batch);
    await answer();
    log.push(follow("4"));
    await answer();
    await bot.idle();
    expect(runs.toSorted()).toEqual(["1", "3", "4"]);
    const { events } = await bot.inbox.list({ state: "dead" });
    expect(events).toMatchObject([{ id: "2", error: expect.stringContaining("payload.actor") }]);
  });

  test("by both at once is kept once", async () => {
    const { bot, log, runs, asked, answer, deliver } = await openBot();
    await asked();
    log.push(...batch);
    const [status] = await Promise.all([deliver(batch), answer()]);
    expect(status).toBe(200);
    expect(await deliver(batch)).toBe(200);
    await bot.idle();
    expect(runs.toSorted()).toEqual(["1", "3"]);
    expect(await bot.inbox.stats()).toMatchObject({ dead: 1, done: 2 });
  });
});

test("a delivery that is too complex is refused, and its events come from the log one by one", async () => {
  const { log, runs, bot, answer, deliver } = await openBot();
  const events = Array.from({ length: 12 }, (_, n) => {
    const fields = Array.from({ length: 1_000 }, (_, field) => [`${n}_${field}`, 0]);
    return { ...follow(`${n + 1}`), ...Object.fromEntries(fields) };
  });
  log.push(...events);
  expect(await deliver(events)).toBe(413);
  // A whole page is as complex as the delivery, so a page with a single event follows.
  for (let pages = 0; pages < 30 && runs.length < events.length; pages++) {
    await answer();
    await bot.idle();
  }
  expect(runs).toEqual(events.map(({ id }) => id));
  expect(await bot.inbox.stats()).toMatchObject({ pending: 0, dead: 0 });
});
