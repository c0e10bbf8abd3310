import { describe, expect, test } from "vitest";
import { timelineLine } from "../../../faces/cli.ts";
import { type TimelineRecord, wordsOf } from "../../../faces/platform.ts";
import { addressedAs, indexOf, marksOf, moved, outcomeOf, placeOf, timeOfDay } from "../face.ts";
import { called, delivered, happened, read, timelineOf } from "./entries.ts";

test("the mark of an event is that of its newest run, and no delivery counts against it", () => {
  const run = { kind: "run", bot: "bot", eventId: "evt_1", attempt: 1, ms: 3 } as const;
  const error = { type: "Error", message: "" };
  const marks = (...records: readonly TimelineRecord[]) => {
    const [event, ...rest] = timelineOf(happened("evt_1"), delivered(["evt_1"]), ...records);
    return event && marksOf(event, indexOf([event, ...rest]));
  };
  expect(marks()).toEqual([{ tone: "good", text: "delivered" }]);
  const retry = { ...run, outcome: "retry", retryInMs: 3_200, error } as const;
  expect(marks(retry)).toEqual([{ tone: "bad", text: "handler failed: attempt 1, next in 4 s" }]);
  const dead = { ...run, attempt: 2, outcome: "dead", error } as const;
  expect(marks(retry, dead)).toEqual([{ tone: "bad", text: "dead: attempt 2 failed" }]);
  const released = { ...run, outcome: "released", retryInMs: 60_000, error } as const;
  expect(marks(released)).toEqual([{ tone: "warn", text: "put off, next in 60 s" }]);
  expect(marks(retry, { ...run, attempt: 2, outcome: "done" }, delivered(["evt_1"]))).toEqual([
    { tone: "good", text: "handled" },
  ]);
});

describe("the outcome of an event", () => {
  const failed = { error: "answered 500" };

  test("is that of the one delivery that the bot took, whatever came before and after", () => {
    expect(outcomeOf([failed, {}, failed], false)).toBe("delivered");
    expect(outcomeOf([failed], false)).toBe("failed");
    expect(outcomeOf([], false)).toBe("waiting");
  });

  test("is that the bot has read it, where no delivery was taken", () => {
    expect(outcomeOf([], true)).toBe("read");
    expect(outcomeOf([failed], true)).toBe("read");
    expect(outcomeOf([{}], true)).toBe("delivered");
  });

  test("is the same by the timeline", () => {
    const refused = delivered(["evt_1"], { status: 500, error: "answered 500" });
    const outcomes = (...records: readonly TimelineRecord[]) =>
      indexOf(timelineOf(happened("evt_1"), ...records)).get("evt_1")?.outcome;
    expect(outcomes()).toBe("waiting");
    expect(outcomes(refused)).toBe("failed");
    expect(outcomes(refused, { ...read, eventIds: ["evt_1"] })).toBe("read");
    expect(outcomes({ ...read, status: null, eventIds: ["evt_1"] })).toBe("waiting");
    expect(outcomes(refused, delivered(["evt_0", "evt_1"]), refused)).toBe("delivered");
  });
});

test("what came of an entry is said in a word, and so is the fault that touched it", () => {
  const entries = timelineOf(
    happened("evt_1"),
    delivered(["evt_1"], { status: null, error: "lost", fault: "lose-answer" }),
    called(),
    called({ status: 403 }),
    called({ status: null, fault: "lose-answer" }),
    { kind: "webhook", bot: "bot", change: "disabled", reason: "20 failures in a row" },
    { kind: "state", change: "reset", detail: "begun anew" },
  );
  const index = indexOf(entries);
  const marks = entries.map((entry) => marksOf(entry, index).map(({ text }) => text));
  expect(marks).toEqual([
    ["failed"],
    ["fault: lose-answer", "failed"],
    ["answered"],
    ["refused"],
    ["fault: lose-answer", "no answer"],
    ["disabled"],
    ["reset"],
  ]);
});

test("the words are those of service-bot dev, which leaves out what only reads", () => {
  const [event, page] = timelineOf(happened("evt_1"), read);
  if (event === undefined || page === undefined) throw new Error("no entries");
  expect(wordsOf(event)).toBe('--> dm.message evt_1 @ada "hello"');
  expect(timelineLine(event)).toBe(`${timeOfDay(event.at)} ${wordsOf(event)}`);
  expect(wordsOf(page)).toBe("api GET /events [200] 6 ms");
  expect(timelineLine(page)).toBeUndefined();
});

test("an entry is opened by the id of its record, or by its number", () => {
  const entries = timelineOf(
    happened("evt_1"),
    delivered(["evt_1"], { id: "dlv_4" }),
    called({ id: "call_3" }),
    { kind: "app", bot: "bot", change: "created" },
  );
  expect(entries.map(addressedAs)).toEqual(["evt_1", "dlv_4", "call_3", "seq_4"]);
});

test("an entry is found by its number, or the place where it would be", () => {
  const entries = timelineOf(read, read, read, read).filter(({ seq }) => seq !== 2);
  expect([0, 1, 2, 3, 4, 9].map((seq) => placeOf(entries, seq))).toEqual([0, 0, 1, 1, 2, 3]);
  expect(placeOf([], 7)).toBe(0);
});

test("keys lead from line to line, and no further than the ends", () => {
  const to = (key: string, from: number) => moved(key, { from, count: 100, page: 20 });
  expect(to("ArrowDown", 5)).toBe(6);
  expect(to("ArrowDown", 99)).toBe(99);
  expect(to("ArrowUp", 0)).toBe(0);
  expect(to("PageUp", 50)).toBe(30);
  expect(to("PageDown", 90)).toBe(99);
  expect(to("Home", 50)).toBe(0);
  expect(to("End", 50)).toBe(99);
  expect(to("x", 50)).toBeUndefined();
  expect(moved("End", { from: 0, count: 0, page: 20 })).toBeUndefined();
});
