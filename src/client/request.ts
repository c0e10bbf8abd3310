import { describeValue } from "../core/kinds.ts";
import { EVENT_HEADER } from "../core/platform-contract.ts";
import { ServiceBotError } from "../errors.ts";
import type { RequestKind } from "./request-limiter.ts";

export type Method = "GET" | "POST";

/**
 * Reason for reading the event log. `audit` looks for events that the webhook lost. `poll` replaces a silent webhook.
 */
export type LogPurpose = "audit" | "poll";

export interface RequestOptions {
  /** Replaces `{id}` in the template. */
  readonly id?: string | undefined;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly json?: unknown;
  /** Sent as multipart/form-data. */
  readonly form?: FormData | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Set if the bot itself reads the event log. All other requests count as a handler's requests. */
  readonly purpose?: LogPurpose | undefined;
}

/** The parts of a request that do not change between attempts. */
export interface ApiRequest {
  readonly method: Method;
  /** Path below `/api/v1`, with `{id}` unresolved. */
  readonly template: string;
  /** Path below `/api/v1`, with the id filled in. */
  readonly path: string;
  /** Method and path, for error messages. */
  readonly name: string;
  /**
   * Method and template. Serves as the key of circuits, metrics and spans, because it contains no id and has few
   * values.
   */
  readonly operation: string;
  readonly url: string;
  readonly kind: RequestKind;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | null;
  /** Texts that the platform's errors may quote, but the client's errors must not. */
  readonly secrets: readonly string[];
}

interface Access {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Id of the event whose handler sends the request. Set only for a platform on this machine. */
  readonly event: string | undefined;
}

/** @throws {ServiceBotError} INVALID_ID */
export function buildRequest(
  method: Method,
  template: string,
  { id, query = {}, purpose, json, form }: RequestOptions,
  { baseUrl, apiKey, event }: Access,
): ApiRequest {
  const path = resolvePath(template, id);
  const headers = {
    accept: "application/json",
    // The transport does not decompress responses.
    "accept-encoding": "identity",
    "user-agent": "service-bot",
    authorization: `Bearer ${apiKey}`,
    ...(event === undefined ? {} : { [EVENT_HEADER]: event }),
    // For a form, the transport chooses the boundary and sets the header.
    ...(json === undefined ? {} : { "content-type": "application/json" }),
  };
  return {
    method,
    template,
    path,
    name: `${method} ${path}`,
    operation: `${method} ${template}`,
    url: urlOf(`${baseUrl}/api/v1${path}`, query),
    kind: purpose ?? (method === "GET" ? "read" : "write"),
    headers,
    body: json === undefined ? (form ?? null) : JSON.stringify(json),
    secrets: [apiKey, ...textsOf(json), ...searchTextsOf(query)],
  };
}

/** @throws {ServiceBotError} INVALID_ID */
export function resolvePath(template: string, id: string | undefined): string {
  const start = template.indexOf("{");
  if (start < 0) return template;
  checkId(nameOfId(template), id);
  const end = template.indexOf("}", start) + 1;
  return template.slice(0, start) + encodeURIComponent(id) + template.slice(end);
}

/** Appends a query to an address. Does not parse the address, because that would take as long as the rest. */
function urlOf(address: string, query: NonNullable<RequestOptions["query"]>): string {
  const parameters = new URLSearchParams();
  for (const name in query) {
    const value = query[name];
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? address : `${address}?${parameters}`;
}

function nameOfId(template: string): string {
  if (template.startsWith("/users/")) return "username";
  return template.startsWith("/posts/") ? "postId" : "conversationId";
}

/** Maximum length of an id, in characters. */
const MAX_ID = 1_000;

/**
 * Checks an id, which becomes a segment of a path. A path cannot contain a lone surrogate, and the segments `.` and
 * `..` would change the URL.
 *
 * @param name names the argument
 * @throws {ServiceBotError} INVALID_ID
 */
export function checkId(name: string, id: unknown): asserts id is string {
  const isText = typeof id === "string" && !["", ".", ".."].includes(id) && id.length <= MAX_ID;
  if (isText && id.isWellFormed()) return;
  throw new ServiceBotError(
    "INVALID_ID",
    `${name} must be a string of 1 to ${MAX_ID} characters that is valid in a URL's path (got ${describeValue(id)}).`,
  );
}

/** Maximum length of a redacted text, in characters. Longer values are images, which no error message quotes. */
const MAX_QUOTE = 100_000;

function textsOf(body: unknown): string[] {
  const fields: unknown[] = typeof body === "object" && body !== null ? Object.values(body) : [];
  return fields
    .filter((value) => typeof value === "string")
    .filter(({ length }) => length < MAX_QUOTE);
}

/**
 * Returns the search text, which is private, in its possible spellings. The platform may quote it literally or as
 * encoded in the URL.
 */
function searchTextsOf({ q }: NonNullable<RequestOptions["query"]>): string[] {
  if (typeof q !== "string") return [];
  return [
    q,
    encodeURIComponent(q.toWellFormed()),
    String(new URLSearchParams({ q })).slice("q=".length),
  ];
}
