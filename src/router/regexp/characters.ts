import {
  ANY_CHARACTER,
  areDisjoint,
  type CharacterSet,
  charactersOf,
  LINE_ENDS,
  NO_CHARACTER,
  unionOf,
} from "./character-set.ts";
import type { RegExpPart } from "./syntax.ts";

/** Finds the characters that the parts of one expression may read. */
export class PartCharacters {
  readonly #sets = new Map<string, CharacterSet>();

  /** Returns the characters with which a match of the part and its continuation may begin. */
  first(part: RegExpPart, next: CharacterSet): CharacterSet {
    switch (part.kind) {
      case "character":
        return this.#setOf(part.source, part.flags);
      case "end":
        return NO_CHARACTER;
      case "backreference":
      case "lookaround":
        // Either may read any number of characters before the match continues.
        return ANY_CHARACTER;
      case "sequence":
        return part.parts.reduceRight((after, each) => this.first(each, after), next);
      case "choice":
        return part.options.map((option) => this.first(option, next)).reduce(unionOf);
      case "repeat": {
        const first = this.first(part.body, next);
        return part.min === 0 ? unionOf(first, next) : first;
      }
      default:
        return next;
    }
  }

  /** Returns whether every attempt ends before the next position at which an attempt can begin. */
  endsBeforeNextStart(part: RegExpPart): boolean {
    if (isNullable(part)) return false;
    return areDisjoint(this.#start(part), this.#repeated(part, false));
  }

  /** Returns the characters at which an attempt can begin, or after which it can begin. */
  #start(part: RegExpPart): CharacterSet {
    if (part.kind !== "sequence") return this.first(part, NO_CHARACTER);
    const [begin, ...rest] = part.parts;
    if (begin?.kind === "line start") return LINE_ENDS;
    const isAssertion = begin?.kind === "lookaround" || begin?.kind === "word boundary";
    if (isAssertion) return this.#start({ kind: "sequence", parts: rest });
    return this.first(part, NO_CHARACTER);
  }

  /** Returns the characters that the part may read any number of times. */
  #repeated(part: RegExpPart, isRepeated: boolean): CharacterSet {
    const inside = (each: RegExpPart) => this.#repeated(each, isRepeated);
    switch (part.kind) {
      case "character":
        return isRepeated ? this.#setOf(part.source, part.flags) : NO_CHARACTER;
      case "backreference":
        return ANY_CHARACTER;
      case "lookaround":
        return inside(part.body);
      case "repeat":
        return this.#repeated(part.body, isRepeated || part.max > 1);
      case "sequence":
        return part.parts.map(inside).reduce(unionOf, NO_CHARACTER);
      case "choice":
        return part.options.map(inside).reduce(unionOf);
      default:
        return NO_CHARACTER;
    }
  }

  #setOf(source: string, flags: string): CharacterSet {
    const key = `${flags}/${source}`;
    const set = this.#sets.get(key) ?? charactersOf(source, flags);
    this.#sets.set(key, set);
    return set;
  }
}

/** Returns whether every match begins at the start of the text. */
export function isAnchored(part: RegExpPart): boolean {
  if (part.kind === "sequence") return part.parts[0] !== undefined && isAnchored(part.parts[0]);
  if (part.kind === "choice") return part.options.every(isAnchored);
  return part.kind === "start";
}

/** Returns whether the part can match without a character. */
export function isNullable(part: RegExpPart): boolean {
  switch (part.kind) {
    case "character":
      return false;
    case "sequence":
      return part.parts.every(isNullable);
    case "choice":
      return part.options.some(isNullable);
    case "repeat":
      return part.min === 0 || isNullable(part.body);
    default:
      return true;
  }
}

/** Returns the part without its end, if that end always matches. */
export function withoutOptionalEnd(part: RegExpPart): RegExpPart {
  if (part.kind === "choice") {
    return { kind: "choice", options: part.options.map(withoutOptionalEnd) };
  }
  if (part.kind === "repeat") return { ...part, max: part.min };
  if (part.kind !== "sequence") return part;
  const last = part.parts.findLastIndex((each) => each.kind !== "repeat" || each.min > 0);
  const parts = part.parts.slice(0, last + 1);
  return {
    kind: "sequence",
    parts: parts.map((each, index) => (index === last ? withoutOptionalEnd(each) : each)),
  };
}
