/**
 * Decides by a message's excerpt whether its text can match a command or pattern, because each decision by the text
 * costs a request. An excerpt is the beginning of the text, possibly truncated at any character and marked there with
 * punctuation. White space may differ.
 */
import { normalizeText } from "../core/text.ts";

/** Text with which every match begins. Anything may follow, except as `next` says. */
export interface Beginning {
  /** Folded. Empty if a match may begin with anything. */
  readonly text: string;
  /** Matches what may follow, unless the text ends there. */
  readonly next?: RegExp;
  /** Matches the first character. */
  readonly first?: RegExp;
}

/** The part of an excerpt with which the text certainly begins. Empty if unknown. */
export interface KnownBeginning {
  readonly text: string;
  readonly folded: string;
}

const ANYTHING: Beginning = { text: "" };

/** Returns the beginning of `/name` and the text after it. The bot's name may follow the command. */
export function commandBeginning(name: string): Beginning {
  return { text: fold(`/${name}`), next: /^[ @]/ };
}

/** Returns the beginning of a complete text. Only the bot's name may follow it. */
export function textBeginning(text: string): Beginning {
  return { text: fold(text.trim()), next: /^ ?@/ };
}

/** A plain character, or an escaped one that is neither a letter nor a digit, if no quantifier makes it optional. */
const LITERALS = /^\^((?:(?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])(?![*?{]))*)/u;

/** A class such as `\\d`, `\\p{L}` or `[a-z]`, if no quantifier makes it optional. */
const CLASS = /^\^((?:\\[dDsSwW]|\\[pP]\{[^}]*\}|\[(?:\\.|[^\]\\])*\])(?![*?]|\{0))/su;

/**
 * Returns the plain text, or the class of the first character, after the `^` of an expression. Without `^`, with
 * alternatives to it, or with `^` for each line, a match may begin with anything.
 */
export function expressionBeginning(expression: RegExp): Beginning {
  const { source, flags, multiline, unicodeSets } = expression;
  if (multiline || hasAlternatives(source)) return ANYTHING;
  const [, literals = ""] = LITERALS.exec(source) ?? [];
  // Classes may be nested with the flag v.
  const [first] = unicodeSets ? [] : (CLASS.exec(source) ?? []);
  if (first !== undefined) return { text: "", first: new RegExp(first, flags) };
  return { text: fold(literals.replace(/\\(.)/gsu, "$1")) };
}

/** Returns whether an expression has alternatives outside all groups. Counts some in nested classes, to be safe. */
function hasAlternatives(source: string): boolean {
  let groups = 0;
  let isInClass = false;
  for (const [sign] of source.matchAll(/\\.|[()[\]|]/gs)) {
    if (isInClass) isInClass = sign !== "]";
    else if (sign === "[") isInClass = true;
    else if (sign === "(") groups += 1;
    else if (sign === ")") groups -= 1;
    else if (sign === "|" && groups === 0) return true;
  }
  return false;
}

/**
 * Returns the part of an excerpt with which the text certainly begins.
 *
 * @param withoutName removes the bot's name, as from the text
 */
export function knownBeginning(
  excerpt: string,
  withoutName: (text: string) => string,
): KnownBeginning {
  // The text may have been cut between a letter and its accent.
  const text = normalizeText(knownWords(excerpt, withoutName)).replace(/.$/su, "");
  return { text, folded: fold(text) };
}

function knownWords(excerpt: string, withoutName: (text: string) => string): string {
  if (/^\s*(?:…|\.\.\.)/.test(excerpt)) return "";
  const unmarked = excerpt.slice(0, endOfWords(excerpt));
  if (!unmarked.includes("@")) return unmarked.trimStart();
  // The text may have been cut inside the bot's name.
  return withoutName(unmarked).replace(/@[^\s@]*$/, "");
}

/** Returns the index after the last letter or digit. What follows may be a mark of truncation. */
function endOfWords(text: string): number {
  let end = text.length;
  while (end > 0 && !/[\p{L}\p{N}]/u.test(text.charAt(end - 1))) end -= 1;
  return end;
}

/** Returns whether a text with this known beginning can match. */
export function canMatch(known: KnownBeginning, { text, next, first }: Beginning): boolean {
  const { folded } = known;
  if (folded.length <= text.length) return text.startsWith(folded);
  if (!folded.startsWith(text)) return false;
  return (next?.test(folded.slice(text.length)) ?? true) && (first?.test(known.text) ?? true);
}

/**
 * Folds case and white space. Upper case after lower case, because the case of some letters depends on their
 * neighbours, such as that of the Greek sigma.
 */
function fold(text: string): string {
  const folded = normalizeText(text).toLowerCase().toUpperCase();
  // Few texts contain other white space than single spaces.
  return /[^\S ]| {2}/.test(folded) ? folded.replace(/\s+/g, " ") : folded;
}
