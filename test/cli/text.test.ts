import { describe, expect, test } from "vitest";
import { age, cut, moment, printableLines, quoted, table } from "../faces/cli.ts";
import { printable } from "../faces/core.ts";

test.each([
  [0, "just now"],
  [999, "just now"],
  [1_000, "1 s ago"],
  [59_999, "59 s ago"],
  [60_000, "1 min ago"],
  [3_599_999, "59 min ago"],
  [3_600_000, "1 h ago"],
  [47 * 3_600_000, "47 h ago"],
  [48 * 3_600_000, "2 days ago"],
  [-1, "in the future"],
])("an age of %i ms is shown as %s", (ms, text) => {
  expect(age(1_000_000_000, 1_000_000_000 + ms)).toBe(text);
});

test("a moment is shown in UTC, with its age", () => {
  expect(moment(1_795_192_891_233, 1_795_192_951_233)).toBe("2026-11-20 16:41:31 UTC (1 min ago)");
});

describe("a text from outside", () => {
  test("has its control characters escaped, and everything else unchanged", () => {
    expect(printable("a\u001b[31m\u0000\u007f\u009b\u2028\u202e b")).toBe(
      "a\\u001b[31m\\u0000\\u007f\\u009b\\u2028\\u202e b",
    );
    expect(printable("漢 🐟 é ' \" \\")).toBe("漢 🐟 é ' \" \\");
  });

  test("keeps its lines, those after the first below it", () => {
    expect(printableLines("a\n b\u001b\n", 2)).toBe("a\n   b\\u001b\n  ");
  });

  test("is cut to one line, between characters", () => {
    expect(cut("one\n  two\tthree", 20)).toBe("one two three");
    expect(cut("🐟🐟🐟🐟", 3)).toBe("🐟🐟…");
    expect(cut("abc", 3)).toBe("abc");
  });

  test("is quoted if a shell would interpret it", () => {
    expect(quoted("evt_1:a-b.c")).toBe("evt_1:a-b.c");
    expect(quoted("$(reboot) it's")).toBe("'$(reboot) it'\\''s'");
    expect(quoted("")).toBe("''");
  });
});

test("columns are as wide as what is in them, and lines have no blanks at their ends", () => {
  expect(table(["A", "LONG", "C"], [["aaaa", "b", ""]])).toBe("A     LONG  C\naaaa  b");
});
