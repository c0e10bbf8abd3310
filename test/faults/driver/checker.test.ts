import { describe, expect, test } from "vitest";
import { check, checkRuns, type Observed } from "./checker.ts";
import { checkLeases, findUnfinishedTexts, type JournalEntry } from "./leases.ts";

/** A run that keeps every promise, with two messages in one lane. One of them is poison. */
const good: Observed = {
  written: [
    { id: "e1", lane: "c1", text: "one", says: ["1: one", "2: one"] },
    { id: "e2", lane: "c1", text: "two", says: ["1: two"] },
    { id: "e3", lane: "c1", text: "throw 3", says: [], ends: "dead" },
  ],
  said: new Map([["c1", ["1: one", "2: one", "1: two"]]]),
  acknowledged: new Set(["e1", "e2"]),
  stored: ["done", "done", "dead"].map((state, n) => {
    return { id: `e${n + 1}`, state, attempts: 1, error: null };
  }),
  integrity: "ok",
};
const { stored } = good;
const say = (...texts: string[]): Observed => ({ ...good, said: new Map([["c1", texts]]) });

// If the checker missed these violations, no scenario could ever fail.
describe("the checker finds", () => {
  test("nothing if every promise is kept", () => {
    expect(check(good)).toEqual([]);
    const again = say("1: one", "2: one", "2: one", "1: two");
    expect(check(again, { mayRepeat: new Map([["2: one", 1]]) })).toEqual([]);
  });

  test("only what is wrong with the replies and the file, if the inbox deletes old events", () => {
    const swept: Observed = { ...good, stored: [] };
    const rules = { keeps: "some events" } as const;
    expect(check(swept, rules)).toEqual([]);
    expect(check({ ...swept, said: new Map() }, rules)).toContainEqual(
      expect.stringMatching(/^lost/),
    );
    expect(check({ ...swept, integrity: "row 1 missing" }, rules)).toHaveLength(1);
  });

  test.each<[string, Observed]>([
    ["lost", say("1: one", "1: two")],
    ["lost", { ...good, stored: stored.slice(1) }],
    ["duplicated", say("1: one", "2: one", "1: two", "1: one")],
    ["unexpected", say("1: one", "2: one", "1: two", "1: three")],
    ["unexpected", { ...good, stored: stored.map((row) => ({ ...row, state: "done" })) }],
    ["unexpected", { ...good, written: good.written.slice(0, 2) }],
    ["reordered", say("1: two", "1: one", "2: one")],
    ["integrity_check", { ...good, integrity: "row 1 missing" }],
  ])("%s, case %#", (kind, observed) => {
    expect(check(observed)).toContainEqual(expect.stringMatching(`^${kind}`));
  });

  test.each([
    ["lost", []],
    ["duplicated", ["e1", "e1"]],
    ["reordered", ["e2", "e1"]],
  ])("%s in the handler runs", (kind, ids) => {
    const runs = ids.map((id) => ({ id, lane: "c1", late: false }));
    expect(checkRuns(good.written, runs)).toContainEqual(expect.stringMatching(`^${kind}`));
  });

  const claim: JournalEntry = { pid: 1, what: "claim", id: "e1", lane: "c1", fence: 1 };
  const end: JournalEntry = { ...claim, what: "end", held: true };
  test.each<[string, JournalEntry[]]>([
    ["two leases", [claim, { ...claim, pid: 2 }]],
    ["two endings", [claim, end, end]],
    ["stale", [{ ...end, fence: 0 }]],
    ["stranded", [{ pid: 1, what: "heal", lanes: 2 }]],
  ])("%s in an inbox's journal", (kind, journal) => {
    const { violations } = checkLeases(journal, new Map([["e1", 1]]));
    expect(violations).toEqual([expect.stringMatching(`^${kind}`)]);
  });
});

test("a text is unfinished between its intent and its outcome, in one process", () => {
  const step = (pid: number, name: string): JournalEntry => ({
    ...{ pid, what: "intend", id: "e1", step: name, request: JSON.stringify({ text: name }) },
  });
  const record: JournalEntry = { pid: 1, what: "record", id: "e1", step: "one" };
  const journal = [step(1, "one"), record, step(1, "two"), step(2, "three")];
  expect(findUnfinishedTexts(journal, 1)).toEqual(["two"]);
});
