import fc from "fast-check";

/** Code points that must not reach a terminal, apart from line feeds and tabs; listed without the code under test. */
export const FORBIDDEN: RegExp =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** A line that only a line break in a text from outside can begin with. */
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

/** Texts made to command a terminal. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...parts), { minLength: 1, maxLength: 8 })
  .map((chosen) => chosen.join(""));
