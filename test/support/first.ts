/** Returns the first element. Throws if the list is empty. */
export function first<T>(list: readonly T[]): T {
  const [element] = list;
  if (element === undefined) throw new Error("the list is empty");
  return element;
}
