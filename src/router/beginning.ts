/**
 * Decides by a message's excerpt whether its text can match a command or pattern, because each decision by the text
 * costs a request. An excerpt is the beginning of the text, possibly truncated at any character and marked there with
 * punctuation. White space may differ.
 */

/** Text with which every match begins. Anything may follow, except as `next` says. */
export interface Beginning {
  /** Folded. Empty if a match may begin with anything. */
  readonly text: string;
  /** Matches what may follow, unless the text ends there. */
  readonly next?: RegExp;
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

/**
 * Returns the plain text after the `^` of an expression. Without `^`, with alternatives to it, or with `^` for each
 * line, a match may begin with anything.
 */
export function expressionBeginning(expression: RegExp): Beginning {
  const { source, multiline } = expression;
  if (multiline || hasAlternatives(source)) return ANYTHING;
  const [, literals = ""] = LITERALS.exec(source) ?? [];
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
 * Returns the part of an excerpt with which the text certainly begins, folded. Empty if unknown.
 *
 * @param withoutName removes the bot's name, as from the text
 */
export function knownBeginning(excerpt: string, withoutName: (text: string) => string): string {
  if (/^\s*(?:…|\.\.\.)/.test(excerpt)) return "";
  const unmarked = excerpt.slice(0, endOfWords(excerpt));
  // The text may have been cut inside the bot's name.
  const rest = unmarked.includes("@")
    ? withoutName(unmarked).replace(/@[^\s@]*$/, "")
    : unmarked.trimStart();
  // The text may have been cut between a letter and its accent.
  return fold(rest.normalize().slice(0, -1));
}

/** Returns the index after the last letter or digit. What follows may be a mark of truncation. */
function endOfWords(text: string): number {
  let end = text.length;
  while (end > 0 && !/[\p{L}\p{N}]/u.test(text.charAt(end - 1))) end -= 1;
  return end;
}

/** Returns whether a text with this known beginning can match. */
export function canMatch(known: string, { text, next = /^/ }: Beginning): boolean {
  if (known.length <= text.length) return text.startsWith(known);
  return known.startsWith(text) && next.test(known.slice(text.length));
}

/**
 * Folds case and white space. Upper case after lower case, because the case of some letters depends on their
 * neighbours, such as that of the Greek sigma.
 */
function fold(text: string): string {
  return text.normalize().toLowerCase().toUpperCase().replace(/\s+/g, " ");
}
