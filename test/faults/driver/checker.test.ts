import { describe, expect, test } from "vitest";
import { check, type Observed, repeats } from "./checker.ts";

/** Two lanes, three messages, everything as promised. */
const good: Observed = {
  written: [
    { id: "e1", lane: "c1", text: "one", answers: 2 },
    { id: "e2", lane: "c2", text: "two", answers: 2 },
    { id: "e3", lane: "c1", text: "three", answers: 2 },
    { id: "e4", lane: "c2", text: "poison", answers: 0, ends: "dead" },
  ],
  said: new Map([
    ["c1", ["1: one", "2: one", "1: three", "2: three"]],
    ["c2", ["1: two", "2: two"]],
  ]),
  acknowledged: new Set(["e1", "e3"]),
  stored: [
    { id: "e1", state: "done", attempts: 1, error: null },
    { id: "e2", state: "done", attempts: 3, error: null },
    { id: "e3", state: "done", attempts: 1, error: null },
    { id: "e4", state: "dead", attempts: 3, error: "Error: no" },
  ],
  integrity: "ok",
};

function said(...texts: readonly string[]): Observed {
  return { ...good, said: new Map([...good.said, ["c1", texts]]) };
}

function without(id: string): Observed {
  return { ...good, stored: good.stored.filter((row) => row.id !== id) };
}

function having(row: Observed["stored"][number]): Observed {
  return { ...without(row.id), stored: [...without(row.id).stored, row] };
}

describe("the checker", () => {
  test("has nothing to say about a run that kept every promise", () => {
    expect(check(good)).toEqual([]);
  });

  test("knows that two answers with one text are two answers", () => {
    const written = [{ id: "e1", lane: "c1", text: "twins 1", answers: 2 }];
    const stored = good.stored.slice(0, 1);
    const twins = (...texts: readonly string[]) =>
      check({ ...good, written, stored, acknowledged: new Set(), said: new Map([["c1", texts]]) });
    const text = "either: twins 1";
    expect(twins(text, text)).toEqual([]);
    expect(twins(text)).toEqual([`lost: "${text}" was said 1 times in c1, not 2`]);
    expect(twins(text, text, text)).toEqual([
      `duplicated: "${text}" was said 3 times in c1, not 2`,
    ]);
  });

  test("lets a text be said again as often as it may, and counts it", () => {
    const again = said("1: one", "2: one", "2: one", "1: three", "2: three");
    const text = "2: one";
    expect(check(again, { mayRepeat: new Map([[text, 1]]) })).toEqual([]);
    expect(check(again, { mayRepeat: new Map([["1: one", 1]]) })).toEqual([
      `duplicated: "${text}" was said 2 times in c1, not 1`,
    ]);
    expect([repeats(good), repeats(again)]).toEqual([0, 1]);
  });

  test.each<[what: string, seen: Observed, says: RegExp]>([
    ["an answer is missing", said("1: one", "2: one", "1: three"), /^lost: "2: three" was never/],
    ["a lane is silent", { ...good, said: new Map() }, /^lost: "1: one" was never said in c1/],
    [
      "an answer is said twice",
      said("1: one", "1: one", "2: one", "1: three", "2: three"),
      /^duplicated: "1: one" was said 2 times in c1/,
    ],
    [
      "an answer is said again at the end",
      said("1: one", "2: one", "1: three", "2: three", "1: one"),
      /^duplicated: "1: one"/,
    ],
    [
      "an answer comes from nowhere",
      said("1: one", "2: one", "3: one", "1: three", "2: three"),
      /^unexpected: "3: one" was said in c1/,
    ],
    [
      "a lane's answer is said in another lane",
      said("1: one", "2: one", "1: three", "2: three", "1: two"),
      /^unexpected: "1: two" was said in c1/,
    ],
    [
      "two answers of one event change places",
      said("2: one", "1: one", "1: three", "2: three"),
      /^reordered: "1: one" was said after "2: one" in c1/,
    ],
    [
      "two events of one lane change places",
      said("1: three", "2: three", "1: one", "2: one"),
      /^reordered: "1: one" was said after "2: three"/,
    ],
    ["an acknowledged event is gone", without("e3"), /^lost: e3 was acknowledged/],
    ["an event was never stored", without("e2"), /^lost: e2 "two" is not stored/],
    [
      "an event is still pending",
      having({ id: "e2", state: "pending", attempts: 1, error: null }),
      /^unexpected: e2 "two" is pending after 1 attempts, not done/,
    ],
    [
      "a good event is dead",
      having({ id: "e2", state: "dead", attempts: 8, error: "HandlerError: x" }),
      /^unexpected: e2 "two" is dead after 8 attempts, not done: HandlerError: x/,
    ],
    [
      "poison counts as done",
      having({ id: "e4", state: "done", attempts: 1, error: null }),
      /^unexpected: e4 "poison" is done after 1 attempts, not dead/,
    ],
    [
      "an event that nobody wrote is stored",
      having({ id: "e9", state: "done", attempts: 1, error: null }),
      /^unexpected: e9 is in the inbox/,
    ],
    ["the file is damaged", { ...good, integrity: "row 1 missing" }, /^integrity_check: row 1/],
  ])("sees that %s", (_what, seen, says) => {
    expect(check(seen)).toContainEqual(expect.stringMatching(says));
  });
});
