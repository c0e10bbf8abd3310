import type { Request } from "express";
import { invalid, type PlatformError } from "../error.ts";
import type { Window } from "../store/conversations.ts";

/** The query of a request: each name at most once. */
export type Query = Readonly<Record<string, unknown>>;

/** The largest page (section 8). */
const MAX_PAGE = 50;

/** Page size when `limit` is omitted: not shown in the document. */
const DEFAULT_PAGE = 20;

/** One value of the query; undefined when it is absent, "" when it is there and empty. */
export function text(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw invalid(`${name} must be given once`);
}

/** A whole number of the query. */
export function integer(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = text(query, name);
  if (value === undefined) return range.fallback;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.min && number <= range.max) return number;
  throw invalid(`${name} must be a whole number from ${range.min} to ${range.max}`);
}

/** `limit`: 1 to 50. */
export function limit(query: Query): number {
  return integer(query, "limit", { min: 1, max: MAX_PAGE, fallback: DEFAULT_PAGE });
}

/** `limit` and `cursor` of a list that is read from its newest item back. */
export function window(query: Query, seqOf: (cursor: string) => number | undefined): Window {
  const cursor = text(query, "cursor");
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : seqOf(cursor);
  if (before === undefined) throw badCursor();
  return { before, limit: limit(query) };
}

export function badCursor(): PlatformError {
  return invalid("cursor must be the nextCursor of the page before");
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Sent as `cursor`, it gives the next page; null after the last one. */
  readonly nextCursor: string | null;
}

/** Reads one row more than the page holds, to know whether there is a next one. */
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

/** A parameter of the path. */
export function parameter(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === "string" ? value : "";
}
