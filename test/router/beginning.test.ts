import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Beginning,
  canMatch,
  commandPattern,
  hearsPattern,
  knownBeginning,
  type TextPattern,
  withoutName,
} from "../faces/router.ts";

const beginningOf = (expression: RegExp): Beginning => hearsPattern(expression).beginning;

describe("a match of an expression begins with", () => {
  test.each<[RegExp, string]>([
    [/^roll (\d+)$/, "ROLL "],
    [/^roll\s+6/, "ROLL"],
    [/^rolls?/, "ROLL"],
    [/^rol{2}s*/, "RO"],
    [/^roll+/, "ROLL"],
    [/^roll\.\/(x)/, "ROLL./"],
    [/^a\\b/, "A\\B"],
    [/^a\u0062/, "A"],
    [/^roll (?:a|b)/, "ROLL "],
    [/^roll [(|]/, "ROLL "],
    [/^roll [[a]\(]|no/v, ""],
    [/^roll [\q{a|b}]/v, "ROLL "],
    [/^roll \(|no/, ""],
    [/^\||no/, ""],
    [/^roll|no/, ""],
    [/^(?:roll)/, ""],
    [/^.oll/, ""],
    [/^/, ""],
    [/roll/, ""],
    [/^roll/m, ""],
    [/^STRASSE/i, "STRASSE"],
    [/^straße/, "STRASSE"],
    [/^stra\u00dfe/, "STRA"],
  ])("the beginning of %s: %j", (expression, text) => {
    expect(beginningOf(expression)).toEqual({ text });
  });

  test.each<[RegExp, string | undefined]>([
    [/^\d+$/, "^\\d"],
    [/^[0-9a-f]{4}$/i, "^[0-9a-f]"],
    [/^[\]x] y/, "^[\\]x]"],
    [/^\p{L}+/u, "^\\p{L}"],
    [/^\d*$/, undefined],
    [/^\d?x/, undefined],
    [/^\d{0,2}x/, undefined],
    [/^[[a-z]--[aeiou]]/v, undefined],
    [/^\b./, undefined],
  ])("a character of a class, as in %s: %s", (expression, source) => {
    const { text, first } = beginningOf(expression);
    expect({ text, source: first?.source }).toEqual({ text: "", source });
    expect(first?.flags ?? expression.flags).toBe(expression.flags);
  });
});

describe("the text of an excerpt begins with", () => {
  test.each([
    ["roll 6", "ROLL "],
    ["roll 6…", "ROLL "],
    ["roll 6 [...]", "ROLL "],
    ["roll\n\n6 and more", "ROLL 6 AND MOR"],
    ["@bot roll 6", "ROLL "],
    ["@bo", ""],
    ["@bot, @bo", ""],
    ["/roll@bo", "/ROL"],
    ["roll 6 @bo", "ROLL 6"],
    ["😀@bo", ""],
    ["…roll 6", ""],
    ["... roll 6", ""],
    ["!", ""],
    ["", ""],
  ])("the known part of %j: %j", (excerpt, known) => {
    const { folded } = knownBeginning(excerpt, (text) => withoutName(text, "bot"));
    expect(folded).toBe(known);
  });
});

/** Words and signs that commands, names and accents are made of. */
const parts = [
  ..."abß\u00e9eΣσςİıſK ".split(""),
  ...["e\u0301", "\u0301", "\u1112\u1161\u11ab", "😀", "\n", "  ", ".", "!", "…", "..."],
  ...["@bot", "@Bot", "@both", "@bo", "bot", "/", "/roll", "roll", "roll 6", "good morning"],
];
const texts = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join(""));
const marks = fc.constantFrom("", "…", "...", " […]", " (...)");

const names = texts.map((text) => text.replace(/[\s/@]/g, "")).filter((name) => name !== "");
/** Without line breaks, because an expression's source escapes them. */
const sources = texts.map((text) => text.replace(/[.|/]/g, "\\$&").replace(/\n/g, " "));
const flags = fc.constantFrom("", "i", "u", "iu", "v", "iv");
const classes = fc.constantFrom(
  ...[
    "\\d",
    "\\D+",
    "\\w{2}",
    "\\W",
    "\\S+ ",
    "[a-z]+",
    "[^a-z]",
    "[Σσ]",
    "[\u00e9]",
    "[^e]",
    "[\\]@]",
  ],
);
const patterns: fc.Arbitrary<TextPattern> = fc.oneof(
  names.map(commandPattern),
  texts.filter((text) => text.trim() !== "").map(hearsPattern),
  fc.tuple(sources, flags).map(([source, flag]) => hearsPattern(new RegExp(`^${source}`, flag))),
  fc.tuple(classes, flags).map(([source, flag]) => hearsPattern(new RegExp(`^${source}`, flag))),
);

/** Excerpts as platforms make them: truncated anywhere, marked or not, with white space as it is or joined. */
function excerptOf(text: string, length: number, mark: string, isJoined: boolean): string {
  const whole = isJoined ? text.replace(/\s+/g, " ").trim() : text;
  return length >= whole.length ? whole : whole.slice(0, length) + mark;
}

test("a text that matches is never ruled out by its excerpt", () => {
  const lengths = fc.nat({ max: 24 });
  const usernames = fc.constantFrom(undefined, "bot", "Bo", "e\u0301", "ro");
  let matches = 0;
  fc.assert(
    fc.property(
      patterns,
      texts,
      texts,
      lengths,
      marks,
      fc.boolean(),
      usernames,
      (pattern, before, after, length, mark, isJoined, username) => {
        const withoutOwnName = (given: string) =>
          withoutName(given.normalize(), username?.normalize());
        for (const text of [before, `@bot ${before}`, `${before}${after}`, `/roll ${after}`]) {
          if (pattern.match(withoutOwnName(text)) === undefined) continue;
          matches += 1;
          const excerpt = excerptOf(text, length, mark, isJoined);
          const known = knownBeginning(excerpt, withoutOwnName);
          expect(canMatch(known, pattern.beginning), JSON.stringify({ text, excerpt })).toBe(true);
        }
      },
    ),
    { numRuns: 3_000 },
  );
  expect(matches).toBeGreaterThan(100);
});
