import { expect, test } from "vitest";
import { stackLines, timelineLine, WaitingRetries } from "../faces/cli.ts";

test("the timeline shows users' actions, deliveries and the bot's replies, but not polling", () => {
  const at = "2026-01-01T10:20:30.000Z";
  const error = { type: "TypeError", code: "E_X", message: "a\u001b[2J" };
  const stack = "TypeError: a\u001b[2J\n    at handler (bot.ts:1:2)";
  const failed = { outcome: "retry", retryInMs: 900 } as const;
  const released = { outcome: "released", retryInMs: 60_000 } as const;
  const lines = [
    { kind: "event", id: "evt_1", type: "dm.message", from: "ada", text: 'say "hi"' },
    { kind: "event", id: "evt_2", type: "like", from: "ben", lateMs: 500 },
    {
      kind: "delivery",
      id: "dlv_1",
      eventIds: ["evt_1"],
      status: 200,
      ms: 9,
      attempt: 1,
      forced: false,
    },
    {
      kind: "delivery",
      id: "dlv_2",
      eventIds: ["a", "b"],
      status: null,
      ms: 1,
      attempt: 2,
      forced: false,
      error: "refused",
    },
    {
      kind: "api",
      id: "call_1",
      method: "POST",
      path: "/dm/c/messages",
      status: 201,
      ms: 6,
      text: "hi",
    },
    { kind: "api", id: "call_1", method: "GET", path: "/events", status: 200, ms: 1 },
    { kind: "api", id: "call_1", method: "GET", path: "/events", status: 401, ms: 1 },
    { kind: "api", id: "call_1", method: "POST", path: "/posts", status: 400, ms: 1, doctor: true },
    { kind: "run", eventId: "evt_1", attempt: 1, outcome: "done", ms: 3 },
    { kind: "run", eventId: "evt_1", attempt: 1, ms: 3, ...failed, error: { ...error, stack } },
    { kind: "run", eventId: "evt_1", attempt: 2, ms: 3, ...failed, retryInMs: 1_800, error },
    { kind: "run", eventId: "evt_1", attempt: 3, ms: 3, outcome: "dead", error },
    { kind: "run", eventId: "evt_1", attempt: 3, ms: 3, ...released, error },
    { kind: "webhook", change: "disabled", reason: "10 failures" },
    { kind: "app", bot: "other", change: "disabled" },
  ] as const;
  const shown = lines.map((entry) => timelineLine({ bot: "bot", ...entry, at, seq: 1 })?.slice(9));
  expect(shown).toEqual([
    '--> dm.message evt_1 @ada "say \\"hi\\""',
    "--> like evt_2 @ben  late by 500 ms",
    "<-- [200] 9 ms  attempt 1",
    "<-- [no response] 1 ms  attempt 2  2 events  refused",
    'api POST /dm/c/messages [201] 6 ms "hi"',
    undefined,
    "api GET /events [401] 1 ms",
    "doctor POST /posts [400] 1 ms",
    undefined,
    "!!! evt_1 attempt 1 failed: TypeError E_X: a\u001b[2J  next attempt in 900 ms",
    "!!! evt_1 attempt 2 failed: TypeError E_X: a\u001b[2J  next attempt in 2 s",
    "!!! evt_1 attempt 3 failed, dead letter: TypeError E_X: a\u001b[2J",
    "!!! evt_1 attempt 3 postponed: TypeError E_X: a\u001b[2J  next attempt in 60 s",
    "*** webhook disabled: 10 failures",
    "*** @other's app: disabled",
  ]);
  const stacks = lines.map((entry) => stackLines({ bot: "bot", ...entry, at, seq: 1 }));
  expect(stacks.flat()).toEqual(["    at handler (bot.ts:1:2)"]);
});

test("a retry that waits is listed until its time, another run, or a decision about the event", () => {
  const waiting = new WaitingRetries();
  const run = { kind: "run", bot: "bot", attempt: 1, ms: 1, at: "", seq: 1 } as const;
  const failed = { ...run, eventId: "evt_1", outcome: "retry", retryInMs: 40_000 } as const;
  waiting.add(failed, 0);
  expect(waiting.lines(2_000)).toEqual([
    expect.stringMatching(/^evt_1 .* in 38 s\. .* discard evt_1 /),
  ]);
  expect(waiting.lines(40_000)).toEqual([]);
  waiting.add({ ...run, eventId: "evt_1", outcome: "done" }, 1_000);
  expect(waiting.lines(2_000)).toEqual([]);
});
