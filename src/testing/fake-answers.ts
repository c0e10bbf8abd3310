import type { PlatformCode } from "../errors.ts";

/** A refusal of section 7 of the platform document. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: PlatformCode | (string & Record<never, never>),
    message: string,
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function notFound(what: string): Refusal {
  return new Refusal(404, "NOT_FOUND", `There is no such ${what}.`);
}

/** The platform's default is not documented. */
const PAGE_SIZE = 20;

/** How many items are asked for at most. */
export function limitOf(query: URLSearchParams): number {
  const limit = Number(query.get("limit") ?? PAGE_SIZE);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 50) return limit;
  throw new Refusal(400, "VALIDATION", "limit must be a whole number from 1 to 50.");
}

/** The page of a listing that is asked for; a cursor is a place in the list. */
export function pageOf(items: readonly unknown[], query: URLSearchParams): unknown {
  const limit = limitOf(query);
  const from = Number(query.get("cursor") ?? 0);
  if (!(Number.isInteger(from) && from >= 0)) {
    throw new Refusal(400, "VALIDATION", "This is no cursor.");
  }
  const end = from + limit;
  return { items: items.slice(from, end), nextCursor: end < items.length ? String(end) : null };
}

export function success(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

export function failure({ status, code, message, retryAfterSeconds }: Refusal): Response {
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return Response.json({ error: { code, message } }, { status, headers });
}
