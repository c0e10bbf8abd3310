import fc from "fast-check";

/**
 * Code points that must not reach a terminal, apart from line feeds and tabs. The list is independent of the code under
 * test.
 */
export const FORBIDDEN: RegExp =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** A line begins with this text only if a line break in untrusted text was printed verbatim. */
export const FORGED = "FORGED";

const parts = [
  "\u001b[2J",
  "\u001b[31m",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://evil.example\u001b\\",
  "\u009b2J",
  "\u0085",
  "\u007f",
  "\u0000",
  "\u0008",
  "\u061c",
  "\u200e",
  "\u200f",
  "\u202a",
  "\u202e",
  "\u2066",
  "\u2069",
  `\u2028${FORGED}`,
  `\u2029${FORGED}`,
  `\n${FORGED}`,
  `\r${FORGED}`,
  `\r\n${FORGED}`,
  "\t",
  "ada",
  "é🐟",
];

export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 })
  .map((chosen) => chosen.join(""));
