/** The items of a result are together at most so long, as characters of JSON: about ten thousand tokens. */
const LONGEST_RESULT = 40_000;

/** How many of the items, from the first on, fit into a result; one does always. */
export function fitting(items: readonly unknown[]): number {
  let size = 0;
  const tooMany = items.findIndex((item) => {
    size += JSON.stringify(item)?.length ?? 0;
    return size > LONGEST_RESULT;
  });
  return tooMany < 0 ? items.length : Math.max(1, tooMany);
}

/** How many there are; and how many there were, where that is more. */
export function countWords(
  count: number,
  [one, many]: readonly [string, string],
  before: number,
): string {
  const cut = count < before ? `, and not ${before}: together they would have been too long` : "";
  return `${count} ${count === 1 ? one : many}${cut}.`;
}
