import { invalid, type PlatformError } from "../error.ts";
import type { Window } from "../store/rows.ts";

/** Maximum page size (section 8 of the platform document). */
const MAX_PAGE = 50;

/** Default page size. The platform document does not specify one. */
const DEFAULT_PAGE = 20;

/** Returns a query parameter: `undefined` if absent, "" if empty. */
export function text(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  if (more.length === 0) return value;
  throw invalid(`${name} must appear only once`);
}

export function integer(
  query: URLSearchParams,
  name: string,
  range: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = text(query, name);
  if (value === undefined) return range.fallback;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.min && number <= range.max) return number;
  throw invalid(`${name} must be a whole number from ${range.min} to ${range.max}`);
}

export function limit(query: URLSearchParams): number {
  return integer(query, "limit", { min: 1, max: MAX_PAGE, fallback: DEFAULT_PAGE });
}

/** Reads the `limit` and `cursor` parameters of a list sorted newest first. */
export function window(
  query: URLSearchParams,
  seqOf: (cursor: string) => number | undefined,
): Window {
  const cursor = text(query, "cursor");
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : seqOf(cursor);
  if (before === undefined) throw badCursor();
  return { before, limit: limit(query) };
}

export function badCursor(): PlatformError {
  return invalid("cursor must be the previous page's nextCursor");
}

/** Selects a page of a list. */
export interface PageInput {
  /** Page size, 1 to 50. Default 20. */
  readonly limit?: number | undefined;
  /** The previous page's `nextCursor`. */
  readonly cursor?: string | undefined;
}

/** Converts options passed in code into a query, so that the same function validates both. */
export function pageQuery(input: PageInput): URLSearchParams {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The next page's `cursor`. `null` on the last page. */
  readonly nextCursor: string | null;
}

/** Reads one extra row to determine whether there is a next page. */
export function page<Row, Item, From extends { readonly limit: number }>(
  from: From,
  read: (window: From) => readonly Row[],
  { item, cursor }: { item: (row: Row) => Item; cursor: (row: Row) => string },
): Page<Item> {
  const { limit: size } = from;
  const rows = read({ ...from, limit: size + 1 });
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const more = rows.length > size && last !== undefined;
  return { items: shown.map(item), nextCursor: more ? cursor(last) : null };
}
