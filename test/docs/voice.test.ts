import { describe, expect, test } from "vitest";
import { findIn } from "../../scripts/voice/rules.ts";
import { drawSample } from "../../scripts/voice/sample.ts";
import { codeTexts, longLines, proseOf } from "../../scripts/voice/texts.ts";

const code = `
/** What a lane has. */
const a = "The event is stored once.";
// One line
// and its next.
const b = \`SELECT a FROM events WHERE id = \${a}\`; // Own line.
const c = \`Cannot read \${a} from the file\`;
`;

test("comments and messages are read from a program, without its SQL", () => {
  expect(codeTexts("src/a.ts", code).map(({ kind, line, words }) => [kind, line, words])).toEqual([
    ["comment", 2, "What a lane has."],
    ["comment", 4, "One line and its next."],
    ["comment", 6, "Own line."],
    ["message", 3, "The event is stored once."],
    ["message", 7, "Cannot read … from the file"],
  ]);
});

test("strings of a test are no messages", () => {
  expect(codeTexts("test/a.ts", code).filter(({ kind }) => kind === "message")).toEqual([]);
});

test("a page is read by paragraph, item and row, without its code", () => {
  const page =
    "# Title\n\nOne `x`\nparagraph.\n\n```sh\nnpm test\n```\n\n- an item\n  of two lines\n| a | b |\n";
  expect(proseOf("docs/a.md", page).map(({ line, words }) => [line, words])).toEqual([
    [1, "# Title"],
    [3, "One … paragraph."],
    [10, "- an item of two lines"],
    [12, "| a | b |"],
  ]);
});

describe("a text is found by", () => {
  const found = (words: string, kind: "comment" | "prose" = "comment") =>
    findIn([{ kind, file: "a.ts", line: 1, words }]).map(({ rule }) => rule.name);

  test.each([
    ["opening", "What is next."],
    ["tell", "Tells the caller."],
    ["nobody", "Nobody waits."],
    ["passive", "The lane is known."],
    ["undefined", "Undefined where no lane is free."],
    ["any more", "It runs no lane any more."],
    ["be it", "An error, be it ours."],
    ["else", "Run it, else wait."],
  ])("%s", (rule, words) => {
    expect(found(words)).toEqual([rule]);
  });

  test("none, if it reads well", () => {
    expect(found("Returns the next lane; `undefined` if none is free.")).toEqual([]);
    expect(found("What is stored", "prose")).toEqual([]);
  });
});

test("a sample is the same for the same seed", () => {
  const texts = proseOf(
    "a.md",
    Array.from({ length: 50 }, (_, n) => `The event number ${n} is here.`).join("\n\n"),
  );
  expect(drawSample(texts, 5, 7)).toBe(drawSample(texts, 5, 7));
  expect(drawSample(texts, 5, 7)).not.toBe(drawSample(texts, 5, 8));
});

test("a long line is found in prose and in a comment, not in code, tables and addresses", () => {
  const long = "word ".repeat(30).trim();
  const page = ["A", long, `| ${long} |`, "```sh", long, "```", `- ${"x".repeat(150)}`];
  expect(longLines("a.md", page.join("\n"))).toEqual([2]);
  expect(longLines("a.ts", [`// ${long}`, `f("${long}");`, `   * ${long}`].join("\n"))).toEqual([
    1, 3,
  ]);
});
