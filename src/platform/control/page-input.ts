import type { Query } from "../http/query.ts";

/** A page of a list. */
export interface PageInput {
  /** 1 to 50. Default 20. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** The same as a query, so that what is checked there is checked here. */
export function pageQuery({ limit, cursor }: PageInput): Query {
  return { limit: limit === undefined ? undefined : String(limit), cursor };
}
