export function first<T>(list: readonly T[]): T {
  const [element] = list;
  if (element === undefined) throw new Error("the list is empty");
  return element;
}
