/**
 * The platform orders events by id: "a larger id means a later event" (section 2). Ids are strings
 * and can exceed 2^53, so they are never turned into numbers.
 *
 * @returns a key whose byte order is the order of the ids: ids of digits alone compare as numbers
 *   (`9` before `10`), anything else as text, and numbers come before text.
 */
export function orderKey(id: string): string {
  // Two steps: one expression for both tries each number of zeros anew when the id is no number.
  if (!/^[0-9]+$/.test(id)) return `~${id}`;
  const digits = id.replace(/^0+(?=.)/, "");
  // A number is larger when it is longer, so the length goes first. Nine digits hold the length of
  // the longest text there can be.
  return `${String(digits.length).padStart(9, "0")}${digits}`;
}
