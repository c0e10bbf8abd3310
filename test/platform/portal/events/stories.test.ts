import { describe, expect, test } from "vitest";
import type { TimelineRecord } from "../../../faces/platform.ts";
import {
  codeOf,
  errorIn,
  idOf,
  outcomeOf,
  overviewOf,
  ownFrames,
  readKey,
  type Story,
  select,
  type Thing,
  textOfStep,
  withSteps,
} from "../face.ts";
import { called, delivered, happened, read, timelineOf } from "./entries.ts";

const run = { kind: "run", bot: "bot", eventId: "evt_1", attempt: 1, ms: 3 } as const;
const error = { type: "TypeError", message: "no price" };
const dead = { ...run, attempt: 2, outcome: "dead", error } as const;

function outcome(...records: readonly TimelineRecord[]) {
  const overview = overviewOf(timelineOf(happened("evt_1"), ...records));
  const story = overview.stories.get("evt_1");
  if (story === undefined) throw new Error("no story");
  return outcomeOf(story, overview);
}

describe("the outcome of an event", () => {
  const refused = delivered(["evt_1"], { status: 500, error: "responded with 500" });

  test("is that of its newest run, and trouble if the handler failed", () => {
    const retry = { ...run, outcome: "retry", retryInMs: 3_200, error } as const;
    expect(outcome(retry)).toEqual({ tone: "bad", text: "Attempt 1 failed: TypeError: no price" });
    expect(outcome(retry, dead)).toEqual({
      tone: "bad",
      text: "Dead letter after attempt 2: TypeError: no price",
    });
    expect(outcome({ ...run, outcome: "released", error }).tone).toBe("warn");
    expect(outcome(retry, { ...run, attempt: 2, outcome: "done" })).toEqual({
      tone: "plain",
      text: "Handled on attempt 2",
    });
  });

  test("shows the bot's reply", () => {
    const answer = called({ eventId: "evt_1", text: "Hello!" });
    expect(outcome(answer, { ...run, outcome: "done" }).text).toBe("Answered “Hello!”");
  });

  test("follows the decisions in the inbox", () => {
    const decide = { kind: "inbox", bot: "bot", eventId: "evt_1" } as const;
    expect(outcome(dead, { ...decide, change: "discarded" }).text).toBe("Discarded");
    const retried = { ...decide, change: "retried" } as const;
    expect(outcome(dead, retried)).toEqual({ tone: "plain", text: "Queued to run again" });
    expect(outcome(dead, retried, { ...run, outcome: "done" }).text).toBe("Handled in 3 ms");
  });

  test("is that of its deliveries until a run is known", () => {
    expect(outcome().text).toBe("Waiting to be delivered");
    expect(outcome(refused)).toEqual({ tone: "bad", text: "Delivery failed: responded with 500" });
    expect(outcome(refused, delivered(["evt_0", "evt_1"]), refused).text).toBe("Delivered");
    expect(outcome(refused, { ...read, eventIds: ["evt_1"] }).text).toBe("Read by polling");
    expect(outcome({ ...read, status: null, eventIds: ["evt_1"] }).text).toContain("Waiting");
    const off = { kind: "webhook", bot: "bot", change: "disabled", reason: "" } as const;
    expect(outcome(refused, off).text).toContain("Webhook off");
    expect(outcome(off, { ...off, change: "enabled" }).text).toContain("Waiting");
    const other = { ...run, eventId: "evt_0", outcome: "done" } as const;
    expect(outcome(other, delivered(["evt_1"])).text).toBe("Being handled");
  });
});

describe("a slow platform", () => {
  const got = [delivered(["evt_1"]), { ...run, eventId: "evt_0", outcome: "done" }] as const;
  const path = "/dm/conversations/c_2/messages";
  const fault = { kind: "fault", target: "api", detail: `POST ${path}`, eventId: "evt_1" } as const;
  const held = { ...fault, change: "held" } as const;
  const at = timelineOf(read)[0]?.at;

  test("shows in the outcome since when a request has been waiting, until it gets its response", () => {
    expect(outcome(...got)).toEqual({ tone: "plain", text: "Being handled", since: at });
    const waits = { tone: "warn", text: `Waiting for POST ${path}`, since: at };
    expect(outcome(...got, held)).toEqual(waits);
    const answered = called({ eventId: "evt_1" });
    const retry = { ...run, outcome: "retry", error } as const;
    expect(outcome(...got, held, { ...held, change: "released" }).text).toBe("Being handled");
    expect(outcome(...got, held, answered).text).toBe("Being handled");
    expect(outcome(...got, held, { ...answered, status: null }, retry, held)).toEqual(waits);
  });

  test("shows afterwards, with the request and the durations", () => {
    const slow = called({ eventId: "evt_1", text: "Hello!", ms: 6_000 });
    expect(outcome(slow, { ...run, ms: 7_000, outcome: "done" })).toEqual({
      tone: "warn",
      text: `Answered “Hello!” in 7 s: POST ${path} took 6 s`,
    });
    const own = { ...run, ms: 7_000, outcome: "done" } as const;
    expect(outcome(called({ eventId: "evt_1", text: "Hello!" }), own)).toEqual({
      tone: "plain",
      text: "Answered “Hello!” in 7 s",
    });
  });

  test("control: waiting requests without an event, and waiting polls, make no row", () => {
    const { things } = overviewOf(timelineOf({ ...held, eventId: "evt_7" }, read));
    expect(things).toEqual([]);
  });
});

const entries = timelineOf(
  happened("evt_1"),
  delivered(["evt_1"], { id: "dlv_1", status: 500, error: "responded with 500", fault: "status" }),
  happened("evt_2", { type: "poll.created", from: "ben", text: "Tea <b>or</b> coffee?" }),
  read,
  read,
  delivered(["evt_2"], { id: "dlv_2", attempt: 2 }),
  called({ id: "call_1", eventId: "evt_2", text: "Tea!", created: { messageId: "m_7" } }),
  called({ id: "call_2", path: "/posts", status: 201 }),
  { kind: "webhook", bot: "helper", change: "disabled", reason: "20 failures in a row" },
  { kind: "fault", target: "webhook", change: "set", detail: "status 500, once" },
);
const overview = overviewOf(entries);

function nameOf(thing: Thing): string {
  if (thing.kind === "event") return thing.event.id;
  return thing.kind === "calls" ? thing.call.id : thing.entry.kind;
}

function find(text: string, more: { type?: string; onlyTrouble?: boolean } = {}) {
  return select(overview, { text, type: "", onlyTrouble: false, ...more }).map(nameOf);
}

test("a row is one event with its deliveries and requests, and idle polls share one line", () => {
  expect(find("")).toEqual(["evt_1", "evt_2", "call_2", "webhook", "fault"]);
  const story = overview.stories.get("evt_2") as Story;
  expect(story.parts.map(({ kind }) => kind)).toEqual(["delivery", "api"]);
  expect(overview.idle?.count).toBe(2);
});

test("the first log page with an event is in the event's row, and later pages are idle", () => {
  const page = { ...read, eventIds: ["evt_1", "evt_2"] };
  const polled = overviewOf(
    timelineOf(happened("evt_1"), delivered(["evt_1"]), happened("evt_2"), page, page, page),
  );
  const kinds = (id: string) => polled.stories.get(id)?.parts.map(({ kind }) => kind);
  expect(kinds("evt_1")).toEqual(["delivery"]);
  expect(kinds("evt_2")).toEqual(["api"]);
  expect(polled.idle?.count).toBe(2);
});

test("an error is shown once: in the first run that ended with it, unless it is the last run's error", () => {
  const other = { type: "Error", message: "no stock" };
  const failed = { ...run, outcome: "retry", error } as const;
  const shown = (...records: readonly TimelineRecord[]) => {
    const parts = overviewOf(timelineOf(happened("evt_1"), ...records)).stories.get("evt_1")?.parts;
    return parts?.flatMap((part) =>
      part.kind === "run" ? [errorIn(part, parts)?.message ?? ""] : [],
    );
  };
  const done = { ...run, outcome: "done" } as const;
  expect(shown(failed, failed, dead)).toEqual(["", "", ""]);
  expect(shown(failed, failed, done)).toEqual(["no price", "", ""]);
  expect(shown({ ...failed, error: other }, failed, dead)).toEqual(["no stock", "", ""]);
  expect(codeOf({ ...error, code: "NO_PRICE" })).toBe("NO_PRICE");
  expect(codeOf({ type: "Error", code: "ENOENT", message: "ENOENT: no such file" })).toBe(
    undefined,
  );
});

test("the text of a step is that of its request, or the request itself", () => {
  const at = Date.parse("2026-11-22T10:00:00.000Z");
  expect(textOfStep(JSON.stringify({ text: "Hi", imageCount: 0, at }))).toBe("Hi");
  for (const text of ["", "buy tea"]) expect(textOfStep(text)).toBe(text);
});

describe("the steps of an event", () => {
  const T0 = Date.parse("2026-11-22T10:00:00.000Z");
  const at = (ms: number) => new Date(T0 + ms).toISOString();
  const step = (name: string, startedAt: number, ref?: string) => {
    const made = { name, state: "done", request: "", startedAt: T0 + startedAt } as const;
    return ref === undefined ? made : { ...made, ref };
  };
  const entries = timelineOf(
    happened("evt_1"),
    delivered(["evt_1"]),
    called({ eventId: "evt_1", id: "call_1", created: { messageId: "m_1" }, ms: 20 }),
    { ...run, outcome: "retry", error },
    called({ eventId: "evt_1", id: "call_2", created: { messageId: "m_2" }, ms: 20 }),
    { ...run, attempt: 2, outcome: "done" },
  ).map((entry, nth) => ({ ...entry, at: at(nth * 100) }));
  const parts = overviewOf(entries).stories.get("evt_1")?.parts ?? [];
  const linesOf = (...steps: Parameters<typeof withSteps>[1]) => {
    return withSteps(parts, steps).map((line) =>
      line.kind === "step" ? [line.step.name, Date.parse(line.at) - T0] : line.kind,
    );
  };

  test("are before the requests that created their content, even if the bot's clock differs", () => {
    expect(linesOf(step("reply/1", -9_000, "m_1"), step("reply/2", 9_000, "m_2"))).toEqual([
      ...["delivery", ["reply/1", 180], "api", "run", ["reply/2", 380], "api", "run"],
    ]);
  });

  test("without content are at the time when they began, and in the last run at the latest", () => {
    expect(linesOf(step("step/a", 110), step("step/b", 310), step("step/c", 5_000))).toEqual([
      ...[
        "delivery",
        ["step/a", 110],
        "api",
        "run",
        ["step/b", 310],
        "api",
        ["step/c", 5_000],
        "run",
      ],
    ]);
  });
});

test("all words of a search must match: users, texts, types, outcomes and ids, in any case", () => {
  expect(find("@ben")).toEqual(["evt_2"]);
  expect(find("TEA coffee")).toEqual(["evt_2"]);
  expect(find("m_7")).toEqual(["evt_2"]);
  expect(find("dlv_1")).toEqual(["evt_1"]);
  expect(find("failed")).toEqual(["evt_1"]);
  expect(find("@ben coffee hello")).toEqual([]);
});

describe("cron jobs of two bots with the same id", () => {
  const id = "cron:digest:2026-11-23T08:00:00Z";
  const own = (bot: string) => happened(id, { bot, type: "cron:digest", from: bot });
  const about = { bot: "helper", eventId: id } as const;
  const held = { kind: "fault", target: "api", change: "held", detail: "POST /posts" } as const;
  const { things, stories } = overviewOf(
    timelineOf(
      ...[own("bot"), own("helper"), called(about), { ...held, ...about }],
      { ...dead, ...about },
      { kind: "inbox", change: "retried", ...about },
    ),
  );

  test("are two rows with their own parts and URLs", () => {
    expect(stories.get(`bot/${id}`)?.parts).toEqual([]);
    const kinds = stories.get(`helper/${id}`)?.parts.map(({ kind }) => kind);
    expect(kinds).toEqual(["api", "fault", "run", "inbox"]);
    const [first, second] = things.map((thing) => readKey(idOf(thing) ?? ""));
    expect([first, second]).toEqual([
      { bot: "bot", id },
      { bot: "helper", id },
    ]);
    expect([readKey(id), readKey("evt_1")]).toEqual([{ id }, { id: "evt_1" }]);
  });

  test("have the place named by a run, even after a request without a place", () => {
    const place = { conversationId: "c_2" };
    const runs = [own("bot"), called({ bot: "bot", eventId: id })];
    const found = overviewOf(timelineOf(...runs, { ...dead, eventId: id, ...place }));
    expect(found.things).toMatchObject([{ event: { id, ...place } }]);
  });
});

test("the two filters select one type or only failures", () => {
  expect(find("", { type: "poll.created" })).toEqual(["evt_2"]);
  expect(find("", { onlyTrouble: true })).toEqual(["evt_1"]);
});

test("a request that fails repeatedly is one row, and no trouble once it succeeds", () => {
  const refused = { ...read, status: 401 };
  const after = (...records: readonly TimelineRecord[]) => {
    const found = overviewOf(timelineOf(refused, refused, refused, ...records));
    const [row] = found.things;
    if (row?.kind !== "calls") throw new Error("no row");
    const trouble = select(found, { text: "", type: "", onlyTrouble: true });
    return { rows: found.things.length, count: row.count, trouble: trouble.length };
  };
  expect(after()).toEqual({ rows: 1, count: 3, trouble: 1 });
  expect(after(read)).toEqual({ rows: 1, count: 3, trouble: 0 });
  expect(after(read, refused)).toEqual({ rows: 2, count: 3, trouble: 1 });
  expect(after({ ...read, eventIds: ["evt_1"] }).trouble).toBe(0);
});

test("a stack trace highlights the frames in the bot's own files, without Node and packages", () => {
  const stack = [
    "TypeError: no price",
    "    at priceOf (file:///home/ada/bot/src/price.ts:7:11)",
    "    at Route.enter (file:///home/ada/bot/node_modules/service-bot/dist/router.js:52:13)",
    "    at file:///home/ada/bot/src/bot.ts:12:3",
    "    at AsyncLocalStorage.run (node:internal/async_local_storage:65:14)",
  ].join("\n");
  expect(ownFrames(stack)).toEqual([
    { before: "at priceOf (/home/ada/bot/src/", file: "price.ts:7:11", after: ")" },
    { before: "at /home/ada/bot/src/", file: "bot.ts:12:3", after: "" },
  ]);
});
