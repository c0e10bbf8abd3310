import { describe, expect, test } from "vitest";
import { runPlatform } from "../support/platform.ts";
import { eventTypes, readBotStatus } from "./face.ts";

test("every type in section 6 can be selected, and its test makes the event", async () => {
  const types = Object.keys(eventTypes);
  expect(types).toEqual([
    ...["dm.message", "mention", "comment", "reply", "follow", "like", "repost", "quote"],
  ]);
  const { control } = await runPlatform();
  for (const type of types) {
    const { events } = control.act({ type, from: "ada" });
    expect(events.map((event) => event.type)).toContain(type);
  }
});

describe("a bot's status", () => {
  const raw = {
    at: "2026-01-01T00:00:00.000Z",
    ready: true,
    mode: "auditing",
    modeSince: "2026-01-01T00:00:00.000Z",
    modeReason: "start",
    lastDeliveryAt: null,
    log: { cursor: "evt_1", lastPollAt: null, lastPollError: null, readToEndAt: null, lagMs: 5 },
    inbox: { pending: 0, oldestPendingAt: null, oldestPendingAgeMs: null, deadLetters: 0 },
    requests: null,
    instances: null,
  };
  const bad = (more: object) =>
    readBotStatus({ ...raw, ...more })?.flatMap(({ name, value, isBad }) => {
      return isBad ? [`${name}: ${value}`] : [];
    });

  test("of a healthy bot needs no attention", () => {
    expect(bad({})).toEqual([]);
    const rows = readBotStatus(raw) ?? [];
    expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toMatchObject({
      Mode: "auditing: start",
      "Event log": "evt_1, read to its end 0 s ago",
      Backlog: "0 events",
    });
  });

  test.each([
    [{ ready: false }, "Ready: no"],
    [{ mode: "polling" }, "Mode: polling"],
    [{ inbox: null }, "DATABASE_URL"],
    [{ inbox: { ...raw.inbox, deadLetters: 3 } }, "Dead letters: 3"],
    [{ inbox: { pending: 1, oldestPendingAgeMs: 61_000 } }, "1 min 1 s"],
    [{ log: { ...raw.log, lastPollError: { code: "FORBIDDEN", status: 403 } } }, "FORBIDDEN 403"],
    [{ log: { ...raw.log, lastPollError: { code: "NETWORK", status: null } } }, "with NETWORK"],
  ])("%j needs attention", (more, text) => {
    expect(bad(more)).toEqual([expect.stringContaining(text)]);
  });

  test("instances are counted, and the instance that reads the log is named", () => {
    const instances = { list: [{}, {}], poller: { holder: "a" } };
    const rows = readBotStatus({ ...raw, instances }) ?? [];
    expect(rows.at(-1)).toMatchObject({ name: "Instances", value: "2, a reads the log" });
  });

  test("missing parts from another version are left out; another response is not a status", () => {
    expect(readBotStatus({ mode: "webhook" })?.map(({ name }) => name)).toEqual(["Ready", "Mode"]);
    expect([null, "ready", [], { ready: true }].map(readBotStatus)).toEqual(
      Array.from({ length: 4 }),
    );
  });
});
