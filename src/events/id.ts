/** Digits up to the end, behind a prefix without digits, which may be empty: `10`, `evt_10`. */
const COUNTED = /^([^0-9]*)([0-9]+)$/;

/** Sorts behind every digit: a key of this version sorts behind those that earlier versions stored for the same prefix. */
const NUMBER_MARK = ":";

/**
 * Builds the sort key of an event id. The platform orders events by id: "a larger id means a later event"
 * (section 2). Ids are strings and can exceed 2^53, so they never become numbers.
 *
 * @returns a key whose byte order is the order of the ids. Ids of digits alone compare as numbers (`9` before `10`)
 *   and come first. Ids of one prefix and digits compare as numbers, too (`evt_9` before `evt_10`). Any other id
 *   compares as text, so ULIDs, UUIDs and hexadecimal ids keep the order of their bytes.
 */
export function orderKey(id: string): string {
  // Two steps, because one expression for both would try each number of zeros anew when the id is no number.
  const [, prefix, number] = COUNTED.exec(id) ?? [];
  if (prefix === undefined || number === undefined) return `~${id}`;
  const digits = number.replace(/^0+(?=.)/, "");
  // A number is larger when it is longer, so the length goes first. Nine digits hold the length of the longest text.
  const count = `${String(digits.length).padStart(9, "0")}${digits}`;
  return prefix === "" ? count : `~${prefix}${NUMBER_MARK}${count}`;
}

/**
 * Names the family of an id: a numbered prefix, or text. Order keys say which of two ids is later only within one
 * family.
 */
export function idFamily(id: string): string {
  const [, prefix] = COUNTED.exec(id) ?? [];
  return prefix === undefined ? "text" : `number:${prefix}`;
}

/** Reads an id as text: a text that is not empty, or a whole number. `undefined` for any other value. */
export function idText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
