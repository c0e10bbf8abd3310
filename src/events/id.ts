/** Ids of digits alone, such as `10`. */
const DIGITS = /^[0-9]+$/;

/** The ASCII letters and digits behind the last separator, up to the end: `10af` in `evt_10af`. */
const TAIL = /[^0-9A-Za-z]([0-9A-Za-z]+)$/;

/** The parts of a UUID have fixed widths, so its bytes have the order of its number. */
const UUID = /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/**
 * Sorts behind every letter and digit. Keys that earlier versions stored for a prefix therefore sort before the keys of
 * this version.
 */
const NUMERAL_MARK = "~";

/** An id in two parts. */
interface PrefixedId {
  /** Everything up to the last separator, with it. */
  readonly prefix: string;
  /** ASCII letters and digits, at least one. */
  readonly tail: string;
}

/**
 * Builds the sort key of an event id. The platform orders events by id: "a larger id means a later event"
 * (section 2). Ids are strings and can exceed 2^53, so they never become numbers.
 *
 * Ids of digits alone compare as numbers (`9` before `10`) and come first. An id with a separator, which is any
 * character but an ASCII letter or digit, compares by its text up to the last separator. Its tail then compares as a
 * numeral: without zeros in front the shorter one is smaller, and bytes decide between equal lengths. This is the order
 * of decimal tails (`evt_9`, `evt_10`), of hexadecimal ones (`evt_9`, `evt_a`, `evt_10`), of other numerals whose digits
 * ascend in ASCII, and of fixed widths (ULIDs). Any other id compares as text, and so does a UUID.
 *
 * @returns a key whose byte order is the order of the ids. Two ids share a key only if they differ in zeros before
 *   their numeral.
 */
export function orderKey(id: string): string {
  if (DIGITS.test(id)) return numeralKey(id);
  const prefixed = splitPrefix(id);
  if (prefixed === undefined) return `~${id}`;
  return `~${prefixed.prefix}${NUMERAL_MARK}${numeralKey(prefixed.tail)}`;
}

/**
 * Names the family of an id: digits alone, a prefix, or text. Order keys say which of two ids is later only within one
 * family.
 */
export function idFamily(id: string): string {
  // A prefix ends with a separator, so it is neither of the two words.
  return DIGITS.test(id) ? "digits" : (splitPrefix(id)?.prefix ?? "text");
}

function splitPrefix(id: string): PrefixedId | undefined {
  const tail = UUID.test(id) ? undefined : TAIL.exec(id)?.[1];
  return tail === undefined ? undefined : { prefix: id.slice(0, -tail.length), tail };
}

function numeralKey(numeral: string): string {
  const digits = numeral.replace(/^0+(?=.)/, "");
  // A longer numeral is larger, so the length goes first. Nine digits hold the length of the longest text.
  return `${String(digits.length).padStart(9, "0")}${digits}`;
}

/** Reads an id as text: a text that is not empty, or a whole number. `undefined` for any other value. */
export function idText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
