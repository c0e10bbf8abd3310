/**
 * How many levels of objects and lists an event may have, itself included. Those that are documented have three.
 * Some versions of Node write any depth as text, others give up at a few thousand levels, earlier where the stack is
 * in use already: far below all of that, an event is the same on each.
 */
export const DEEPEST = 100;

/** An event as the text that is stored, or undefined when it has more than `DEEPEST` levels. */
export function textOf(raw: unknown): string | undefined {
  return isObject(raw) && isDeeper(raw, DEEPEST) ? undefined : JSON.stringify(raw);
}

/** Looks no deeper than it asks for. Every event comes by here: it makes no lists of keys or values. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isObject(item) && isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) {
    const item: unknown = value[key as keyof typeof value];
    if (isObject(item) && isDeeper(item, levels - 1)) return true;
  }
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
