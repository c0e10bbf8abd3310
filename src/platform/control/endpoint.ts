import type * as z from "../../core/zod.ts";
import { type BodyLimit, readJson, validate } from "../http/body.ts";
import { limit, type PageInput, text } from "../http/query.ts";
import type { Incoming, Route } from "../http/routes.ts";

/** A request to the control API. */
export interface Call {
  readonly incoming: Incoming;
  readonly request: Request;
  readonly query: URLSearchParams;
  /** The parameter of the path; empty if the path has none. */
  readonly id: string;
  /** Username of the bot whose app is meant; `undefined` for the first one. */
  readonly bot: string | undefined;
}

/** One operation of the control API. */
export interface Endpoint extends Route {
  /** Status of a success. */
  readonly status: number;
  /** Returns the body of the answer, or the whole answer. */
  readonly handle: (call: Call) => unknown;
}

interface Options {
  /** Default: 201 for POST, 200 otherwise. */
  readonly status?: number;
  readonly limit?: BodyLimit;
}

export function get(path: string, handle: (call: Call) => unknown): Endpoint {
  return { method: "GET", path, status: 200, handle };
}

/** Named like this because `delete` is a keyword. */
export function remove(path: string, handle: (call: Call) => unknown): Endpoint {
  return { method: "DELETE", path, status: 200, handle };
}

export function put<T>(
  path: string,
  schema: z.ZodType<T>,
  handle: (body: T, call: Call) => unknown,
): Endpoint {
  return { method: "PUT", path, status: 200, handle: reading(schema, handle) };
}

export function post<T>(
  path: string,
  schema: z.ZodType<T>,
  handle: (body: T, call: Call) => unknown,
  { status = 201, limit: bodyLimit }: Options = {},
): Endpoint {
  return { method: "POST", path, status, handle: reading(schema, handle, bodyLimit) };
}

/** A POST whose body is no JSON, or is not looked at. */
export function postRaw(path: string, handle: (call: Call) => unknown, status = 201): Endpoint {
  return { method: "POST", path, status, handle };
}

/** Reads `limit` and `cursor`. */
export function pageIn({ query }: Call): PageInput {
  return { limit: limit(query), cursor: text(query, "cursor") };
}

function reading<T>(
  schema: z.ZodType<T>,
  handle: (body: T, call: Call) => unknown,
  bodyLimit?: BodyLimit,
): (call: Call) => Promise<unknown> {
  return async (call) => handle(validate(schema, await readJson(call.request, bodyLimit)), call);
}
