import type * as z from "../core/zod.ts";
import type { Http } from "./http.ts";
import { checkLimit, Listing } from "./listing.ts";
import { check } from "./schemas.ts";
import type { CallOptions, Page, PageOptions } from "./types.ts";

/** What is at a path. */
export async function read<T>(
  http: Http,
  path: string,
  schema: z.ZodType<T>,
  { signal }: CallOptions,
): Promise<T> {
  const { body } = await http.request("GET", path, { signal });
  return check(schema, body, `GET ${path}`);
}

/** A listing with `limit` and `cursor`, as the document shows them for conversations and messages. */
export function list<T>(
  http: Http,
  path: () => string,
  page: z.ZodType<Page<T>>,
  { limit, cursor, signal }: PageOptions,
  query: Readonly<Record<string, string | undefined>> = {},
): Listing<T> {
  const request = () => `GET ${path()}`;
  const readPage = async (at: string | undefined) => {
    checkLimit({ limit });
    const { body } = await http.request("GET", path(), {
      signal,
      query: { ...query, limit, cursor: at },
    });
    return check(page, body, request());
  };
  return new Listing(readPage, cursor, request);
}
