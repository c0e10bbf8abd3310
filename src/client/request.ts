import { EVENT_HEADER } from "../core/platform-contract.ts";
import { ServiceBotError } from "../errors.ts";
import type { RequestKind } from "./request-limiter.ts";

export type Method = "GET" | "POST";

/** Why the event log is read: to look for what the webhook lost, or because the webhook is silent. */
export type LogPurpose = "audit" | "poll";

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as multipart/form-data. */
  readonly form?: FormData | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Set for a read of the event log on the bot's own behalf. All other requests count as a handler's. */
  readonly purpose?: LogPurpose | undefined;
}

/** Everything about a request that does not change from one try to the next. */
export interface ApiRequest {
  readonly method: Method;
  /** Below `/api/v1`. */
  readonly path: string;
  readonly url: string;
  readonly kind: RequestKind;
  /** Method and template of the path, such as `POST /posts/{id}/comments`. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | null;
  /** Texts that the platform's errors may quote, and ours must not. */
  readonly secrets: readonly string[];
}

interface Access {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Id of the event for which a handler calls; for a platform on this machine alone. */
  readonly event?: string | undefined;
}

export function buildRequest(
  method: Method,
  path: string,
  { query, purpose, json, form }: RequestOptions,
  { baseUrl, apiKey, event }: Access,
): ApiRequest {
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
    // `fetch` chooses the boundary of a form, and writes the header with it.
    headers: isJson ? { ...common, "content-type": "application/json" } : common,
    body: isJson ? JSON.stringify(json) : (form ?? null),
    secrets: [apiKey, ...textsOf(json), ...searchTextsOf(query)],
  };
}

function urlOf(baseUrl: string, path: string, query: RequestOptions["query"] = {}): string {
  const url = new URL(`${baseUrl}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Search texts are written by people. Platforms quote them as they are, or quote their own address. */
function searchTextsOf({ q }: RequestOptions["query"] = {}): string[] {
  if (typeof q !== "string") return [];
  return [q, encodeURIComponent(q), String(new URLSearchParams({ q })).slice("q=".length)];
}

/** In characters. Longer values are images, which no error quotes. */
const MAX_QUOTE = 100_000;

function textsOf(body: unknown): string[] {
  const fields: unknown[] = typeof body === "object" && body !== null ? Object.values(body) : [];
  return fields
    .filter((value) => typeof value === "string")
    .filter(({ length }) => length < MAX_QUOTE);
}

export const conversationsPath = "/dm/conversations";

export function messagesPath(conversationId: string): string {
  return `${conversationsPath}/${segment(conversationId)}/messages`;
}

export function userPath(username: string): string {
  return `/users/${segment(username)}`;
}

export function postPath(postId: string): string {
  return `/posts/${segment(postId)}`;
}

export function commentsPath(postId: string): string {
  return `/posts/${segment(postId)}/comments`;
}

/**
 * Encodes one part of a path. A lone surrogate cannot be written in a path, and a dot or two would be read as "here" and "up",
 * so such an id would call another address.
 *
 * @throws {ServiceBotError} INVALID_ID
 */
function segment(id: string): string {
  if (!["", ".", ".."].includes(id) && id.isWellFormed()) return encodeURIComponent(id);
  throw new ServiceBotError(
    "INVALID_ID",
    `"${id}" cannot be the id of a conversation or a post, or the name of an account.`,
  );
}

/** The paths of section 4 of the platform document, below `/api/v1`. */
const templates = [
  "/me",
  "/events",
  "/feed",
  "/search",
  "/uploads",
  "/dm/conversations",
  "/dm/conversations/{id}/messages",
  "/posts",
  "/posts/{id}",
  "/posts/{id}/comments",
  "/users/{name}",
] as const;

const patterns: readonly (readonly [template: string, pattern: RegExp])[] = templates.map(
  (template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`)],
);

/** Returns the template of a path, without ids and names; `other` for a path that section 4 does not have. */
function templateOf(path: string): string {
  const [address = path] = path.split("?", 1);
  return patterns.find(([, pattern]) => pattern.test(address))?.[0] ?? "other";
}

/**
 * Names an operation by its method and the template of its path, such as `POST /posts/{id}/comments`. Circuits, metrics and
 * spans use it, so their number stays bounded and no id is in it.
 */
export function operationOf(method: string, path: string): string {
  return `${method} ${templateOf(path)}`;
}
