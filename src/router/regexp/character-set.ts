/** A set of characters. Exact for ASCII and white space, and an upper bound for all others. */
export interface CharacterSet {
  /** One bit for each of {@link EXACT}. */
  readonly bits: bigint;
  /** True if the set may contain other characters. */
  readonly hasOther: boolean;
}

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

/** White space beyond ASCII, as `\s` matches it. */
const SPACES = Array.from(
  "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
);

const EXACT = [...ASCII, ...SPACES];

/** Other characters that equal an ASCII letter with the flags i and u. */
const FOLDED = ["\u017f", "\u212a"];

/** Matches a character, an escape or a class that contains only characters of {@link EXACT} and {@link FOLDED}. */
const IS_EXACT =
  /^(?:\\(?:[dwstnrfv]|[^\w\u0080-\uffff])|\[(?!\^)(?:[^[\\\u0080-\uffff]|\\(?:[dwstnrfv]|[^\w\u0080-\uffff]))*\]|[^.\\\u0080-\uffff])$/;

export const NO_CHARACTER: CharacterSet = { bits: 0n, hasOther: false };

export const ANY_CHARACTER: CharacterSet = {
  bits: 2n ** BigInt(EXACT.length) - 1n,
  hasOther: true,
};

/** Characters after which `^` matches with the flag m. */
export const LINE_ENDS: CharacterSet = setOf((character) => /[\n\r\u2028\u2029]/.test(character));

/** Returns the characters that a character, an escape or a class matches. */
export function charactersOf(source: string, flags: string): CharacterSet {
  const one = new RegExp(`^${source}$`, flags.replace(/[^iuvs]/g, ""));
  const { bits } = setOf((character) => one.test(character));
  return { bits, hasOther: !IS_EXACT.test(source) || FOLDED.some((letter) => one.test(letter)) };
}

export function unionOf(a: CharacterSet, b: CharacterSet): CharacterSet {
  return { bits: a.bits | b.bits, hasOther: a.hasOther || b.hasOther };
}

export function areDisjoint(a: CharacterSet, b: CharacterSet): boolean {
  return (a.bits & b.bits) === 0n && !(a.hasOther && b.hasOther);
}

function setOf(contains: (character: string) => boolean): CharacterSet {
  const bits = EXACT.map((character, at) => (contains(character) ? 1n << BigInt(at) : 0n));
  return { bits: bits.reduce((all, bit) => all | bit), hasOther: false };
}
