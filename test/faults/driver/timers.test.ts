import { describe, expect, test } from "vitest";
import { commentOn } from "../bot/behaviours.ts";
import { checkCounters } from "./counters.ts";
import {
  type Arrival,
  checkFired,
  checkMoments,
  checkTimers,
  checkWaiting,
  latenessOf,
  type OwnEvent,
} from "./timers.ts";

const START = Date.UTC(2026, 0, 1);

const at = (ms: number) => START + ms;

describe("the timer checker", () => {
  const reminders = [{ number: 1, delayMs: 500, writtenAt: at(0) }];
  const event: OwnEvent = {
    ...{ id: "timer:remind:1", type: "timer:remind", state: "done", number: 1 },
    ...{ dueAt: at(510), receivedAt: at(512) },
  };
  const answer: Arrival = { text: "due 1", at: at(520) };

  test("accepts a timer that fired once and late", () => {
    expect(checkTimers(reminders, [event], [answer])).toEqual([]);
    expect(latenessOf("timer", [event], [answer])).toEqual({
      "timer late, median (ms)": 10,
      "timer late, p99 (ms)": 10,
      "timer late, worst (ms)": 10,
    });
  });

  test.each<[string, OwnEvent[], Arrival[]]>([
    ["lost", [], []],
    ["lost", [], [answer]],
    ["lost", [event], []],
    ["lost", [{ ...event, state: "dead" }], [answer]],
    ["duplicated", [event, { ...event, id: "timer:remind:2" }], [answer]],
    ["early", [{ ...event, dueAt: at(440) }], [answer]],
    ["early", [{ ...event, receivedAt: at(505) }], [answer]],
    ["early", [event], [{ ...answer, at: at(449) }]],
    ["unexpected", [event, { ...event, number: 2 }], [answer]],
  ])("finds a timer that is %s, case %#", (kind, events, arrivals) => {
    const found = checkTimers(reminders, events, arrivals);
    expect(found).toEqual([expect.stringMatching(`^${kind}`)]);
  });

  test("finds a missing far timer, and a cancelled timer that still waits", () => {
    expect(checkWaiting([7, 8], ["7", "8"])).toEqual([]);
    expect(checkWaiting([7, 8], ["7"])).toEqual([expect.stringMatching(/^lost: timer 8/)]);
    expect(checkWaiting([7], ["7", "8"])).toEqual([expect.stringMatching(/^unexpected: timer 8/)]);
  });

  test("finds a timer that the states count twice or not at all", () => {
    const states = (fired: number) => new Map([["dm:c1", { count: 0, fired }]]);
    expect(checkFired(2, states(2))).toEqual([]);
    for (const fired of [1, 3]) {
      expect(checkFired(2, states(fired))).toEqual([expect.stringMatching(/^miscounted/)]);
    }
  });
});

describe("the checker for a cron job that fires every second", () => {
  const tick = (second: number, lateMs = 5): OwnEvent => ({
    ...{ id: `cron:tick:${second}`, type: "cron:tick", state: "done" },
    ...{ dueAt: at(second * 1000), receivedAt: at(second * 1000 + lateMs) },
  });
  /** The bot is up from 0.5 s to 6.5 s, and from 9.2 s to 14 s. Ticks in the last 2 s before a kill are optional. */
  const lives = [
    { startedAt: at(100), from: at(500), to: at(6_500) },
    { startedAt: at(9_000), from: at(9_200), to: at(14_000) },
  ];
  // The bot owes ticks 1 to 4, 10 to 12, and tick 9 as the last missed tick. Ticks 5 and 6 are optional because the
  // kill followed soon after. Ticks 7 and 8 fell into the gap.
  const good = [1, 2, 3, 4, 5, 6, 10, 11, 12].map((second) => tick(second));
  good.push(tick(9, 300));
  const answersTo = (events: readonly OwnEvent[]) =>
    events.map(({ id, receivedAt }) => ({ text: commentOn(id), at: receivedAt }));
  const check = (events: readonly OwnEvent[], arrivals = answersTo(events)) =>
    checkMoments(events, arrivals, lives, at(14_000));

  const without = (second: number) => good.filter(({ id }) => id !== `cron:tick:${second}`);

  test("accepts that each tick with an instance fired once, and the last missed tick too", () => {
    expect(check(good)).toEqual({ violations: [], owed: 8, missed: 2 });
  });

  test("tolerates a slow instance", () => {
    const slow = [tick(3, 1_200), tick(4, 200)];
    expect(
      check([...without(3).filter(({ id }) => !id.endsWith(":4")), ...slow]).violations,
    ).toEqual([]);
  });

  test("tolerates a missing tick right before a kill, and a last tick that still waits", () => {
    expect(check(good.filter(({ id }) => !/:[56]$/.test(id))).violations).toEqual([]);
    const waiting: OwnEvent = { ...tick(13), state: "pending" };
    expect(check([...good, waiting], answersTo(good)).violations).toEqual([]);
  });

  test.each<[string, OwnEvent[], Arrival[]?]>([
    ["lost", without(3)],
    ["lost", without(9)],
    ["lost", good, answersTo(without(3))],
    ["lost", [...without(3), { ...tick(3), state: "dead" }]],
    ["lost", [...without(3), { ...tick(3), state: "pending" }]],
    ["duplicated", [...good, tick(3)], answersTo(good)],
    ["duplicated", good, [...answersTo(good), ...answersTo([tick(3)])]],
    ["early", [...without(3), tick(3, -51)]],
    // Here the bot fired every missed tick instead of only the last.
    ["unexpected", [...good, tick(6.5)]],
    ["unexpected", [...good, tick(7, 2_300), tick(8, 1_300)]],
    ["unexpected", good, [...answersTo(good), { text: "cron:tick:99 answered", at: at(0) }]],
  ])("finds a tick that is %s, case %#", (kind, events, arrivals) => {
    const { violations } = check(events, arrivals);
    expect(violations).toContainEqual(expect.stringMatching(`^${kind}`));
  });

  test("finds a cron job that never fired", () => {
    expect(check([]).violations).toContainEqual(expect.stringMatching(/^lost: no tick/));
  });
});

describe("the counter checker", () => {
  const written = ["count 1", "tally 2", "tally 6", "answer 4"].map((text, n) => ({
    ...{ id: `e${n}`, lane: "c1", text, says: [] },
  }));
  const counters = (count: number) => ({ count, fired: 0 });

  test("accepts that each message was counted once", () => {
    const states = new Map([
      ["dm:c1", counters(3)],
      ["group-2", counters(2)],
    ]);
    expect(checkCounters(written, states)).toEqual([]);
  });

  test.each([
    ["a count that is missing", 2, 2],
    ["a count too many", 4, 2],
    ["a change of a group that another one overwrote", 3, 1],
  ])("finds %s", (_, lane, group) => {
    const states = new Map([
      ["dm:c1", counters(lane)],
      ["group-2", counters(group)],
    ]);
    expect(checkCounters(written, states)).toEqual([expect.stringMatching(/^miscounted/)]);
  });

  test("finds a state that no message should have changed", () => {
    const states = new Map([
      ["dm:c1", counters(3)],
      ["group-2", counters(2)],
      ["dm:c2", counters(1)],
    ]);
    expect(checkCounters(written, states)).toEqual([expect.stringMatching(/^miscounted.*dm:c2/)]);
  });
});
