import { EVENT_HEADER } from "../core/current-event.ts";
import { operationOf } from "./operation.ts";
import type { RequestKind } from "./waiting.ts";

export type Method = "GET" | "POST";

/** Why the event log is read: to look for what the webhook lost, or because it brings nothing. */
export type LogPurpose = "audit" | "poll";

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as multipart/form-data. */
  readonly form?: FormData | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A read of the event log on the bot's own behalf; whatever else it is counts as a handler's. */
  readonly purpose?: LogPurpose | undefined;
  /** The event because of which the bot calls; for a platform on this machine. */
  readonly event?: string | undefined;
}

/** Everything about a call that does not change from one try to the next. */
export interface Call {
  readonly method: Method;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly url: string;
  readonly kind: RequestKind;
  /** Method and template of the path, such as `POST /posts/{id}/comments`. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | null;
  /** What the platform's errors may quote, and ours must not. */
  readonly secrets: readonly string[];
}

interface Access {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export function callOf(
  method: Method,
  path: string,
  { query, purpose, json, form, event }: RequestOptions,
  { baseUrl, apiKey }: Access,
): Call {
  const common = {
    accept: "application/json",
    authorization: `Bearer ${apiKey}`,
    ...(event === undefined ? {} : { [EVENT_HEADER]: event }),
  };
  const isJson = json !== undefined;
  return {
    method,
    path,
    url: urlOf(baseUrl, path, query),
    kind: purpose ?? (method === "GET" ? "read" : "write"),
    operation: operationOf(method, path),
    // The boundary of a form is chosen by `fetch`, with the header that tells it.
    headers: isJson ? { ...common, "content-type": "application/json" } : common,
    body: isJson ? JSON.stringify(json) : (form ?? null),
    secrets: [apiKey, ...textsOf(json), ...searchedFor(query)],
  };
}

function urlOf(baseUrl: string, path: string, query: RequestOptions["query"] = {}): string {
  const url = new URL(`${baseUrl}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** What is searched for may be what somebody has written; platforms quote it as it is, or their own address. */
function searchedFor({ q }: RequestOptions["query"] = {}): string[] {
  if (typeof q !== "string") return [];
  return [q, encodeURIComponent(q), String(new URLSearchParams({ q })).slice("q=".length)];
}

/** Longer values are images, which nobody quotes. In characters. */
const LONGEST_QUOTE = 100_000;

/** What somebody is about to be told; platforms quote it in their errors, ours do not. */
function textsOf(body: unknown): string[] {
  const fields: unknown[] = typeof body === "object" && body !== null ? Object.values(body) : [];
  return fields
    .filter((value) => typeof value === "string")
    .filter(({ length }) => length < LONGEST_QUOTE);
}
