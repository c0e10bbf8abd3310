/**
 * Compares ids in the platform's order. This second implementation checks the bot's. Decimal ids come first, in numeric
 * order; `evt_` ids with a hexadecimal number compare by that number.
 */
export function compareIds(a: string, b: string): number {
  const numbers = [isNumber(a), isNumber(b)];
  if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
  return numbers[0] ? compare(BigInt(a), BigInt(b)) : compare(numberOf(a), numberOf(b));
}

/** Returns whether both ids have a prefix, or neither has. */
export function haveOneForm(a: string, b: string): boolean {
  return isNumber(a) === isNumber(b);
}

function numberOf(id: string): bigint {
  return BigInt(id.replace("evt_", "0x"));
}

export function compareText(a: string, b: string): number {
  return compare(a, b);
}

/** Includes ids of different lengths, numbers beyond 2^53, leading zeros (two ids of equal rank), and a prefix. */
export const IDS: readonly string[] = [
  ...Array.from({ length: 24 }, (_, n) => String(n + 1)),
  ...["07", "100", "99", "9007199254740993", "9007199254740992", "evt_b", "evt_10", "evt_9"],
];

function isNumber(id: string): boolean {
  return /^[0-9]+$/.test(id);
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
