/** Ids that consist of digits only, such as `10`. */
const DIGITS = /^[0-9]+$/;

/** ASCII letters and digits after the last separator, such as `10af` in `evt_10af`. */
const TAIL = /[^0-9A-Za-z]([0-9A-Za-z]+)$/;

/** The parts of a UUID have fixed widths, so text order is numeric order. */
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/**
 * Sorts after every letter and digit. Keys that earlier versions stored for a prefix therefore sort before this
 * version's keys.
 */
const NUMERAL_MARK = "~";

interface PrefixedId {
  /** Text up to and including the last separator. */
  readonly prefix: string;
  /** One or more ASCII letters and digits. */
  readonly tail: string;
}

/**
 * Builds an event id's sort key. The platform orders events by id: "a larger id means a later event" (section 2 of the
 * platform document). Ids are strings and can exceed 2^53, so they are never converted to numbers.
 *
 * Ids that consist of digits only compare as numbers (`9` before `10`) and sort first. An id with a separator (any
 * character except an ASCII letter or digit) compares by the text up to its last separator, then by its tail. Tails
 * compare as numerals: leading zeros are ignored, a shorter tail is smaller, and tails of the same length compare by
 * bytes. This order is correct for decimal tails (`evt_9`, `evt_10`), hexadecimal tails (`evt_9`, `evt_a`, `evt_10`),
 * other numerals whose digits ascend in ASCII, and fixed-width ids such as ULIDs. UUIDs and all other ids compare as
 * text.
 *
 * @returns a key whose byte order is the order of the ids. Two ids share a key only if they differ only in leading
 *   zeros.
 */
export function orderKey(id: string): string {
  if (DIGITS.test(id)) return numeralKey(id);
  const prefixed = splitPrefix(id);
  if (prefixed === undefined) return `~${id}`;
  return `~${prefixed.prefix}${NUMERAL_MARK}${numeralKey(prefixed.tail)}`;
}

/** Returns an id's family: digits only, a prefix, or text. Order keys are comparable only within one family. */
export function idFamily(id: string): string {
  // A prefix ends with a separator, so it never equals one of these words.
  return DIGITS.test(id) ? "digits" : (splitPrefix(id)?.prefix ?? "text");
}

function splitPrefix(id: string): PrefixedId | undefined {
  const tail = UUID.test(id) ? undefined : TAIL.exec(id)?.[1];
  return tail === undefined ? undefined : { prefix: id.slice(0, -tail.length), tail };
}

function numeralKey(numeral: string): string {
  const digits = numeral.replace(/^0+(?=.)/, "");
  // A longer numeral is larger, so its length comes first. Nine digits suffice for the length of the longest string.
  return `${String(digits.length).padStart(9, "0")}${digits}`;
}

/** Returns the family of the id behind a sort key. */
export function keyFamily(ord: string): string {
  return ord.slice(0, ord.lastIndexOf(NUMERAL_MARK) + 1);
}

/** Returns an id as a string, or `undefined` if it is neither a non-empty string nor a safe integer. */
export function idText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
