import { describe, expect, test } from "vitest";
import { eventTypes } from "../../faces/events.ts";
import { readBotStatus, eventTypes as texts } from "./face.ts";

test("every type in section 6 can be selected, in the document's order", () => {
  expect(Object.keys(texts)).toEqual(eventTypes);
});

describe("a bot's status", () => {
  const raw = {
    at: "2026-01-01T00:00:00.000Z",
    ready: true,
    mode: "auditing",
    modeSince: "2026-01-01T00:00:00.000Z",
    modeReason: "start",
    lastDeliveryAt: "2025-12-31T23:57:00.000Z",
    webhook: {
      state: "working",
      reason: "start",
      secretEnd: "1f3a",
      refused: 0,
      lastRefusal: null,
    },
    platform: { circuits: [], clockSkewMs: 20 },
    store: { failure: null, disk: { isLow: false, freeBytes: 9e9, minFreeBytes: 67_108_864 } },
    loopGuard: { holding: 0 },
    credentials: { apiKeyEnd: "1f3a", webhookSecretEnds: ["2b4c", null] },
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
      Webhook: "working: start",
      "Last delivery": "3 min ago",
      Credentials: "key …1f3a, secrets …2b4c …",
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
    [{ webhook: { ...raw.webhook, state: "silent" } }, "Webhook: silent"],
    [
      { webhook: { ...raw.webhook, refused: 3, lastRefusal: { code: "STALE", status: 400 } } },
      "Refused: 3 since then, the last with STALE 400",
    ],
    [
      { platform: { circuits: [{ of: "token", why: "token", code: "API_ERROR", status: 401 }] } },
      "Paused requests: token (token, API_ERROR 401)",
    ],
    [{ platform: { circuits: [], clockSkewMs: -412_000 } }, "Clock: 6 min 52 s behind"],
    [{ store: { failure: { reason: "disk_full" }, disk: null } }, "Store: fails: disk_full"],
    [
      { store: { failure: null, disk: { isLow: true, freeBytes: 1e6, minFreeBytes: 6.4e7 } } },
      "Disk: 1.0 MB free; below 64.0 MB",
    ],
    [{ loopGuard: { holding: 2 } }, "Loop guard: holds back events in 2 places"],
  ])("%j needs attention", (more, text) => {
    expect(bad(more)).toEqual([expect.stringContaining(text)]);
  });

  test("instances are counted, and the instance that reads the log is named", () => {
    const instances = { list: [{}, {}], poller: { holder: "a" } };
    const rows = readBotStatus({ ...raw, instances }) ?? [];
    expect(rows).toContainEqual({
      name: "Instances",
      value: "2, a reads the log",
      isBad: false,
    });
  });

  test("missing parts from another version are left out; another response is not a status", () => {
    expect(readBotStatus({ mode: "webhook" })?.map(({ name }) => name)).toEqual(["Ready", "Mode"]);
    expect([null, "ready", [], { ready: true }].map(readBotStatus)).toEqual(
      Array.from({ length: 4 }),
    );
  });
});
