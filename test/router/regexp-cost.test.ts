import { createContext, Script } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { costOf, longestText } from "../faces/router.ts";

const exponential = Number.POSITIVE_INFINITY;

/** The degree of the bound. `exponential` if there is no bound that helps. */
function degreeOf(expression: RegExp): number {
  const { factor, degree } = costOf(expression);
  return factor > 1e9 ? exponential : degree;
}

describe("the steps of an expression grow with the text's length", () => {
  test.each<[RegExp, number]>([
    // anchored
    [/^a+$/, 1],
    [/^a*b*$/, 1],
    [/^a*a*$/, 2],
    [/^a*a*b/, 2],
    [/^.*,.*,.*$/, 3],
    [/^(\w+) (\w+) (\w+)$/, 1],
    [/^(?:a|b)*c/, 1],
    [/^(?:a+b+)*$/, 1],
    [/^(?:ab?)*$/, 1],
    [/^(\d+,)*$/, 1],
    [/^\s*(?:x|y)?\s*$/, 2],
    // searched for
    [/a/, 1],
    [/a+/, 1],
    [/a+$/, 2],
    [/x[^x]*$/, 1],
    [/a{3,60}b/, 1],
    [/a{3,100}b/, 2],
    [/:\d+:\d+/, 1],
    [/a|b+$/, 2],
    [/^a|b$/, 1],
    [/^a+$/m, 1],
    [/^[^,]*b$/m, 2],
    [/b*$/y, 1],
    // assertions
    [/^(?=.*a)(?=.*b)/, 1],
    [/(?=.*a)b/, 2],
    [/(?<=a+)b/, 2],
    [/(?<=^a*)b/, 2],
    [/(?<=^(?:ba)*a*)x/, 3],
    [/(?<=^a*(?:ab)*)x/, 2],
    [/(?<!x)a+b/, 2],
    [/(?<=(a+)+)b/, exponential],
    [/\b@(\w+)$/, 1],
    [/^(.*)\1$/, 2],
    // choices that the next character does not decide
    [/^(?:a|a)*$/, exponential],
    [/^(?:a|ab)*$/, exponential],
    [/^(?:a|b|)*$/, exponential],
    [/^(?:a|a){30}$/, exponential],
    [/^(?:a|a){3}$/, 1],
    // repetitions inside repetitions
    [/^(a+)+$/, exponential],
    [/^(a*)*$/, exponential],
    [/^(a+b?)+$/, exponential],
    [/^(a+b)+$/, 1],
    [/^(a{1,9}){1,9}$/, exponential],
    [/^(a{2})+$/, 1],
    [/^(\S+\s)+$/, 1],
    [/^(\S+\s?)+$/, exponential],
    [/^(.+\s)+$/, exponential],
    // flags and escapes
    [/^(?:k+\u212a)+$/, 1],
    [/^(?:k+\u212a)+$/iu, exponential],
    [/^(?:a+A)+$/, 1],
    [/^(?:a+A)+$/i, exponential],
    [/^(?:a+(?i:A))+$/, exponential],
    [/^(?:a+(?i:A))+$/i, exponential],
    [/^(?:a+(?-i:A))+$/i, exponential],
    [/^(?:[^\n]+\n)+$/, 1],
    [/^(?:.+\n)+$/, 1],
    [/^(?:.+\n)+$/s, exponential],
    [/^(?:\x61+\u0061)+$/, exponential],
    [/^(?:\u{61}+a)+$/u, exponential],
    [/^(?:\p{L}+é)+$/u, exponential],
    [/^(?:[[a-c]&&[b-d]]+a)+$/v, 1],
    [/^(?:[[a-c]&&[b-d]]+b)+$/v, exponential],
    [/^[\q{ab|c}]$/v, exponential],
    [/^(?:[\]a]+b)+$/, 1],
    [/^(?<year>\d+)-\k<year>$/, 1],
    [/^(?:\d+{a)+$/, 1],
    // The compiler refuses an octal escape.
    [new RegExp(`^(?:\\n|\\0${12})*$`), exponential],
    [/^(?:\n|\0)*$/, 1],
    [/^(?:\\|\c)*$/, exponential],
  ])("%s: degree %d", (expression, degree) => {
    expect(degreeOf(expression)).toBe(degree);
  });
});

test("a text is as long as its steps allow", () => {
  expect(longestText({ factor: 2, degree: 2 }, 200)).toBe(10);
  expect(longestText({ factor: 5, degree: 1 }, 100)).toBe(20);
  expect(longestText({ factor: 5, degree: 0 }, 100)).toBe(Number.POSITIVE_INFINITY);
  expect(longestText({ factor: exponential, degree: 1 }, 100)).toBe(0);
});

/** Steps that take about a millisecond. */
const STEPS = 200_000;

/** In ms. No expression within its bound takes a hundredth of it, even on a busy machine. */
const TIMEOUT_MS = 2_000;

/** Expressions of parts that fit the hostile texts. */
const { expression: expressions } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(..."ab ", "\\s", "\\w", "[ab]", "[^a]", ".", "\\b", "\\d", "^", "$", "\\1"),
    fc.constantFrom("(?=a)", "(?!b)", "(?<=a)", "(?<=a+)", "(?=.*b)", "(?<=b*a*)", "(?<!ab|b)"),
    fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => one + other),
    fc.tuple(tie("expression"), tie("expression")).map(([one, other]) => `(?:${one}|${other})`),
    tie("expression").map((inner) => `(${inner})`),
    fc
      .tuple(
        tie("expression"),
        fc.constantFrom("*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "{3,90}"),
      )
      .map(([inner, times]) => `(?:${inner})${times}`),
  ),
}));

const ends = fc.constantFrom("", "x", "!", "\n");

test("no text within the bound takes longer than its steps", () => {
  const context = createContext({});
  const script = new Script("match()");
  const flags = fc.constantFrom("", "i", "u", "s", "m", "iu", "v");
  const around = fc.tuple(fc.constantFrom("", "^"), fc.constantFrom("", "$", "!"));
  const units = fc.string({ unit: fc.constantFrom(..."ab 1"), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      expressions,
      flags,
      around,
      units,
      ends,
      (inner, flag, [begin, end], unit, last) => {
        const expression = new RegExp(`${begin}(a?)${inner}${end}`, flag);
        const length = Math.min(longestText(costOf(expression), STEPS), 5_000);
        const text = unit.repeat(length).slice(0, Math.max(0, length - 1)) + last;
        context["match"] = () => expression.test(text);
        script.runInContext(context, { timeout: TIMEOUT_MS });
      },
    ),
    { numRuns: 300 },
  );
});
