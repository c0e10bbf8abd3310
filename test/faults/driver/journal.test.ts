import { describe, expect, test } from "vitest";
import { beingSaid, checkLeases, type JournalEntry, readJournal } from "./journal.ts";

const claim = { pid: 1, what: "claim", id: "e1", lane: "c1", fence: 1 } as const;
const end = { ...claim, what: "end", held: true } as const;
const fences = new Map([["e1", 1]]);

function violations(...journal: readonly JournalEntry[]): readonly string[] {
  return checkLeases(journal, fences).violations;
}

describe("the checker of leases", () => {
  test("has nothing to say about a claim and its end", () => {
    expect(checkLeases([claim, end], fences)).toEqual({
      violations: [],
      stale: 0,
      dropped: 0,
      stranded: 0,
    });
  });

  test("counts results that were dropped, which is as it should be", () => {
    const late = { ...end, held: false };
    expect(checkLeases([claim, late], fences)).toMatchObject({ violations: [], dropped: 1 });
  });

  test.each<[what: string, journal: readonly JournalEntry[], says: RegExp]>([
    ["one fence is given twice", [claim, { ...claim, pid: 2 }], /^two leases: c1 .* fence 1/],
    ["an event ends twice", [claim, end, end], /^two endings: e1/],
    [
      "a result is taken after another claim",
      [{ ...end, fence: 0 }],
      /^stale: process 1 ended e1 by the fence 0, and the last claim is 1/,
    ],
    ["a lane had to be healed", [{ pid: 1, what: "heal", lanes: 2 }], /^stranded: 2 lanes/],
  ])("sees that %s", (_what, journal, says) => {
    expect(violations(...journal)).toEqual([expect.stringMatching(says)]);
  });
});

test("what a process is in the middle of saying has an intent and no outcome", () => {
  const step = (pid: number, name: string, text: string): JournalEntry => ({
    ...{ pid, what: "intend", id: "e1", lane: "c1", fence: 1 },
    ...{ step: name, request: JSON.stringify({ text }) },
  });
  const journal: JournalEntry[] = [
    step(1, "reply:1", "one"),
    { pid: 1, what: "record", id: "e1", lane: "c1", fence: 1, step: "reply:1" },
    step(1, "reply:2", "two"),
    step(2, "reply:1", "of another process"),
  ];
  expect(beingSaid(journal, 1)).toEqual(["two"]);
});

test("a line in which a process has died is passed over", () => {
  expect(readJournal(`${JSON.stringify(claim)}\n{"pid":1,"wh`)).toEqual([claim]);
});
