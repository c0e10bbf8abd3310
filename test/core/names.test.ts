import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editsBetween, nearestName } from "../faces/core.ts";

describe("the edits between two names", () => {
  test.each([
    ["", "", 0],
    ["port", "port", 0],
    ["port", "", 4],
    ["port", "ports", 1],
    ["port", "pot", 1],
    ["port", "part", 1],
    ["port", "prot", 1],
    ["kitten", "sitting", 3],
    ["concurency", "concurrency", 1],
  ])("of %j and %j are %i", (one, other, edits) => {
    expect(editsBetween(one, other)).toBe(edits);
  });

  test("are the same from both sides, none for one name, and never more than its letters", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(name, name, (one, other) => {
        const edits = editsBetween(one, other);
        expect(edits).toBe(editsBetween(other, one));
        expect(edits === 0).toBe(one === other);
        expect(edits).toBeGreaterThanOrEqual(Math.abs(one.length - other.length));
        expect(edits).toBeLessThanOrEqual(Math.max(one.length, other.length));
      }),
    );
  });
});

describe("the nearest name", () => {
  const known = ["concurrency", "maxAttempts", "port", "host", "dm.message", "mention"];

  test.each([
    ["concurency", "concurrency"],
    ["MAX_ATTEMPTS", "maxAttempts"],
    ["prot", "port"],
    ["dm-message", "dm.message"],
    ["mentoin", "mention"],
  ])("to %s is %s", (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });

  test.each(["colour", "ports2", "", "hst2"])("to %j is none", (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });

  test("is the one with the fewest edits", () => {
    expect(nearestName("retentions", ["intentions", "retention"])).toBe("retention");
  });
});
