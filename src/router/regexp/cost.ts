import { areDisjoint, type CharacterSet, NO_CHARACTER, unionOf } from "./character-set.ts";
import { isAnchored, isNullable, PartCharacters, withoutOptionalEnd } from "./characters.ts";
import { parseRegExp, type RegExpPart, type RegExpRepeat } from "./syntax.ts";

/**
 * Upper bound of a number, `factor * n ** degree` for a text of n characters. The factor is `Infinity` if the number
 * may grow exponentially.
 */
export interface Bound {
  readonly factor: number;
  readonly degree: number;
}

/** Returns an upper bound of the steps that a backtracking engine takes to search a text for a match. */
export function costOf(expression: RegExp): Bound {
  return new Costs().ofSearch(parseRegExp(expression), expression.sticky);
}

/** Returns the length of the longest text that takes at most `steps` steps, in characters. */
export function longestText({ factor, degree }: Bound, steps: number): number {
  return Math.floor((steps / factor) ** (1 / degree));
}

/** Cost of a part at one position of a text. */
interface Cost {
  /** Steps to try every way in which the part matches. */
  readonly steps: Bound;
  /** Ways in which the part matches and the next character fits. All other ways fail in the next step. */
  readonly ways: Bound;
  /** True if the steps are at most proportional to the number of characters read. */
  readonly isProportional: boolean;
}

const ONE: Bound = { factor: 1, degree: 0 };
const LENGTH: Bound = { factor: 1, degree: 1 };
const ENDLESS: Bound = { factor: Infinity, degree: 0 };

const ONE_STEP: Cost = { steps: ONE, ways: ONE, isProportional: true };
const UNKNOWN: Cost = { steps: ENDLESS, ways: ENDLESS, isProportional: false };

/** A higher number of repetitions counts as the length of the text. */
const MAX_COUNTED = 64;

/** Matches a class or an escape with members of several characters, which the flag v allows. */
const HAS_TEXTS = /\\q\{|\\p\{(?:RGI_|Basic_Emoji|Emoji_Keycap)/;

class Costs {
  readonly #characters = new PartCharacters();

  /** @param isAtOnePosition true if the match must begin at one position */
  ofSearch(part: RegExpPart, isAtOnePosition: boolean): Bound {
    if (part.kind === "choice") {
      return part.options.map((option) => this.ofSearch(option, isAtOnePosition)).reduce(sum);
    }
    const { steps, isProportional } = this.#of(part, NO_CHARACTER);
    if (isAtOnePosition) return steps;
    // An anchored match fails in one step at all other positions.
    if (isAnchored(part)) return sum(steps, LENGTH);
    if (isProportional && this.#characters.endsBeforeNextStart(part)) return inARow(steps);
    const failed = this.#of(withoutOptionalEnd(part), NO_CHARACTER).steps;
    return sum(product(failed, LENGTH), steps);
  }

  /** @param next characters with which a match may continue after the part */
  #of(part: RegExpPart, next: CharacterSet): Cost {
    switch (part.kind) {
      case "character":
        return HAS_TEXTS.test(part.source) ? UNKNOWN : ONE_STEP;
      case "backreference":
        return { ...ONE_STEP, steps: LENGTH };
      case "lookaround": {
        // Once a lookaround has matched, it tries no other way.
        const { steps } = this.#of(part.body, NO_CHARACTER);
        return { steps, ways: ONE, isProportional: steps.degree === 0 };
      }
      case "sequence":
        return this.#ofSequence(part.parts, next);
      case "choice":
        return this.#ofChoice(part.options, next);
      case "repeat":
        return this.#ofRepeat(part, next);
      default:
        return ONE_STEP;
    }
  }

  #ofSequence(parts: readonly RegExpPart[], next: CharacterSet): Cost {
    const costs: Cost[] = [];
    let after = next;
    for (const part of parts.toReversed()) {
      costs.push(this.#of(part, after));
      after = this.#characters.first(part, after);
    }
    return costs.reduceRight(inSequence, ONE_STEP);
  }

  #ofChoice(options: readonly RegExpPart[], next: CharacterSet): Cost {
    const costs = options.map((option) => this.#of(option, next));
    const firsts = options.map((option) => this.#characters.first(option, next));
    // The next character decides which option matches.
    const isDecided = areApart(firsts) && options.filter(isNullable).length <= 1;
    const ways = costs.map((cost) => cost.ways);
    return {
      steps: costs.reduce((all, { steps }) => sum(all, steps), ONE),
      ways: isDecided ? ways.reduce(larger) : ways.reduce(sum),
      isProportional:
        (isDecided && costs.every((cost) => cost.isProportional)) ||
        costs.every(({ steps }) => steps.degree === 0),
    };
  }

  #ofRepeat({ body, min, max }: RegExpRepeat, next: CharacterSet): Cost {
    const first = this.#characters.first(body, NO_CHARACTER);
    // After the body, either it begins again or the match continues.
    const cost = this.#of(body, max > 1 ? unionOf(first, next) : next);
    // The next character decides whether the body begins again.
    const isDecided = min === max || (!isNullable(body) && areDisjoint(first, next));
    if (max <= 1) {
      const ways = isDecided ? cost.ways : sum(cost.ways, ONE);
      return { steps: sum(cost.steps, ONE), ways, isProportional: cost.isProportional };
    }
    const times = timesOf(body, min, max);
    if (!isOne(cost.ways)) {
      const ways = times.degree === 0 ? power(sum(cost.ways, ONE), times.factor) : ENDLESS;
      return { steps: product(ways, cost.steps), ways, isProportional: false };
    }
    const ways = isDecided ? ONE : sum(times, ONE);
    if (!cost.isProportional) {
      return { steps: product(times, sum(cost.steps, ONE)), ways, isProportional: false };
    }
    const steps = times.degree === 0 ? product(times, cost.steps) : inARow(cost.steps);
    return { steps: sum(steps, ONE), ways, isProportional: true };
  }
}

function areApart(sets: readonly CharacterSet[]): boolean {
  let all = NO_CHARACTER;
  return sets.every((set) => {
    const isApart = areDisjoint(all, set);
    all = unionOf(all, set);
    return isApart;
  });
}

function inSequence(before: Cost, after: Cost): Cost {
  const areProportional = before.isProportional && after.isProportional;
  return {
    steps: sum(before.steps, product(before.ways, after.steps)),
    ways: product(before.ways, after.ways),
    isProportional: areProportional && (before.ways.degree === 0 || after.steps.degree === 0),
  };
}

/** Returns the number of repetitions. Repetitions beyond the minimum cannot be empty. */
function timesOf(body: RegExpPart, min: number, max: number): Bound {
  if (max <= MAX_COUNTED) return { factor: max, degree: 0 };
  return isNullable(body) ? { factor: min + 1, degree: 1 } : LENGTH;
}

/** Bounds the steps of any number of matches that read different characters and take steps in proportion to them. */
function inARow({ factor }: Bound): Bound {
  return { factor: 2 * factor, degree: 1 };
}

function isOne({ factor, degree }: Bound): boolean {
  return factor <= 1 && degree === 0;
}

function sum(a: Bound, b: Bound): Bound {
  return { factor: a.factor + b.factor, degree: Math.max(a.degree, b.degree) };
}

function product(a: Bound, b: Bound): Bound {
  return { factor: a.factor * b.factor, degree: a.degree + b.degree };
}

function power({ factor, degree }: Bound, exponent: number): Bound {
  return { factor: factor ** exponent, degree: degree * exponent };
}

function larger(a: Bound, b: Bound): Bound {
  return { factor: Math.max(a.factor, b.factor), degree: Math.max(a.degree, b.degree) };
}
