import { describe, expect, test } from "vitest";
import {
  type AnyEvent,
  copiedFields,
  cronEvent,
  defaultLane,
  isOwn,
  originOf,
  ownTypeOf,
  readStoredEvent,
  setterOf,
  textsOf,
  timerEvent,
  timerPayload,
} from "../faces/events.ts";
import { payloads, wireEvent } from "./samples.ts";

const DUE_AT = Date.parse("2026-11-23T09:10:00.250Z");

function eventOf(type: string, payload: unknown): AnyEvent {
  return readStoredEvent(JSON.stringify(wireEvent(type, payload)));
}

function timerOf(setter: AnyEvent, data: unknown, inDoubt = false): AnyEvent {
  const payload = timerPayload(setter, { name: "remind", key: "k", data }, inDoubt);
  const body = JSON.stringify(payload);
  const timer = { lane: "dm:c_1", name: "remind", eventId: "timer:remind:7", dueAt: DUE_AT, body };
  return readStoredEvent(timerEvent(timer).body);
}

describe("the event of a timer", () => {
  test("is in the lane of the event that set it, and never late", () => {
    const due = { lane: "dm:c_1", name: "remind", eventId: "timer:remind:7", dueAt: DUE_AT };
    expect(timerEvent({ ...due, body: '{"data":1}' })).toMatchObject({
      id: "timer:remind:7",
      type: "timer:remind",
      lane: "dm:c_1",
      ord: "",
    });
  });

  test("was created when it was due, and shows by whom it was set", () => {
    const event = timerOf(eventOf("dm.message", payloads["dm.message"]), { text: "tea" });
    expect(event).toMatchObject({
      id: "timer:remind:7",
      type: "timer:remind",
      createdAt: "2026-11-23T09:10:00.250Z",
      payload: {
        name: "remind",
        key: "k",
        data: { text: "tea" },
        dueAt: "2026-11-23T09:10:00.250Z",
        setBy: { id: "1001", type: "dm.message", createdAt: "2026-01-02T03:04:05.678Z" },
        origin: "1001",
      },
    });
    expect(setterOf(event)).toEqual({
      id: "1001",
      type: "dm.message",
      createdAt: "2026-01-02T03:04:05.678Z",
    });
  });

  test.each(Object.entries(payloads))("has the place and the person of a %s", (type, payload) => {
    const setter = eventOf(type, payload);
    const event = timerOf(setter, undefined);
    const fields = Object.entries(payload);
    const place = fields.filter(([name]) => copiedFields.includes(name));
    expect(event.payload).toMatchObject(Object.fromEntries(place));
    expect(place.map(([name]) => name)).toContain(type === "dm.message" ? "from" : "actor");
    expect(event.payload).not.toHaveProperty("excerpt");
    expect(type === "follow" || defaultLane(event) === defaultLane(setter)).toBe(true);
  });

  test("is caused by the event at the beginning of its chain, and has ids that do not grow", () => {
    const first = timerOf(eventOf("dm.message", payloads["dm.message"]), 1);
    const second = timerOf(first, 2);
    expect(originOf(second)).toBe("1001");
    expect(setterOf(second)?.id).toBe("timer:remind:7");
    expect(JSON.stringify(second).length - JSON.stringify(first).length).toBeLessThan(20);
  });

  test("is in doubt if its setter is", () => {
    const setter = eventOf("dm.message", payloads["dm.message"]);
    expect(setterOf(timerOf(setter, 1, true))?.inDoubt).toBe(true);
    expect(setterOf(timerOf(setter, 1))).not.toHaveProperty("inDoubt");
  });

  test("has user text in its data", () => {
    const data = { text: "buy milk", list: ["and bread", 5, null, { more: "and tea" }] };
    const event = timerOf(eventOf("dm.message", payloads["dm.message"]), data);
    expect(textsOf(event)).toEqual(["buy milk", "and bread", "and tea"]);
  });
});

test("a field named data is no text of a person in an event of the platform", () => {
  expect(textsOf(eventOf("poll.closed", { data: "x", excerpt: "hello" }))).toEqual(["hello"]);
});

test("an event of the platform has neither setter nor other cause than itself", () => {
  const event = eventOf("dm.message", {
    ...payloads["dm.message"],
    origin: "5",
    setBy: { id: "5" },
  });
  expect(originOf(event)).toBe("1001");
  expect(setterOf(event)).toBeUndefined();
});

test("a cron moment is one event, named by pattern and time", () => {
  const event = cronEvent("daily", Date.parse("2026-11-23T08:00:00Z"));
  expect(event).toMatchObject({
    id: "cron:daily:2026-11-23T08:00:00Z",
    type: "cron:daily",
    lane: "cron:daily",
    ord: "",
  });
  expect(readStoredEvent(event.body)).toEqual({
    id: event.id,
    type: "cron:daily",
    createdAt: "2026-11-23T08:00:00.000Z",
    payload: { name: "daily", dueAt: "2026-11-23T08:00:00.000Z" },
  });
});

test.each(["daily", "a:b"])("the id of a cron tick or a timer begins with its type: %s", (name) => {
  const times = ["2026-11-23T08:00:00Z", "2026-11-23T08:00:00.250Z"].map(Date.parse);
  const ids = times.map((time) => cronEvent(name, time).id);
  expect(ids.map(ownTypeOf)).toEqual([`cron:${name}`, `cron:${name}`]);
  expect(ownTypeOf(`timer:${name}:4f2a`)).toBe(`timer:${name}`);
});

test.each(["timer:x", "cron:x", "timer:", "cron:a:b"])("%s is of the bot's own", (name) => {
  expect(isOwn(name)).toBe(true);
});

test.each(["timer", "Timer:x", "dm.message", "evt_timer:1", ""])("%j is not", (name) => {
  expect(isOwn(name)).toBe(false);
});

test.each([
  { id: "evt_1", type: "timer:remind" },
  { id: "evt_1", type: "cron:daily" },
  { id: "timer:remind:1", type: "follow" },
])("a dead letter $id of type $type does not become an own event when it is retried", (names) => {
  const body = JSON.stringify({ ...wireEvent("follow", {}), ...names });
  expect(() => readStoredEvent(body)).toThrow(expect.objectContaining({ code: "BODY_INVALID" }));
});
