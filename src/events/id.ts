/**
 * The platform orders events by id: "a larger id means a later event" (section 2). Ids are strings
 * and can exceed 2^53, so they are never turned into numbers.
 *
 * @returns a key whose byte order is the order of the ids: ids of digits alone compare as numbers
 *   (`9` before `10`), anything else as text, and numbers come before text.
 */
export function orderKey(id: string): string {
  const digits = /^0*([0-9]+)$/.exec(id)?.[1];
  if (digits === undefined) return `~${id}`;
  // A number is larger when it is longer, so the length goes first. Six digits hold any length that
  // a request body can carry.
  return `${String(digits.length).padStart(6, "0")}${digits}`;
}
