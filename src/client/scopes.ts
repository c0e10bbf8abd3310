import { DOCTOR_AGENT, type Scope } from "../core/platform-contract.ts";
import * as z from "../core/zod.ts";
import { ApiError } from "./errors.ts";
import { type Fetch, Http } from "./http.ts";

/** Marks requests as a check-up, which the local platform shows apart from requests of a bot. */
function markAsDoctor(send: Fetch): Fetch {
  return (url, init) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", DOCTOR_AGENT);
    return send(url, { ...init, headers });
  };
}

/** `fetch` of the process, marked as a check-up. */
export const asDoctor: Fetch = (url, init) => markAsDoctor(fetch)(url, init);

/** Result of a probe: `unknown` if the platform cannot answer now, `refused` if it refuses the token. */
export type ScopeAnswer = "yes" | "no" | "unknown" | "refused";

/** Id that no post has. */
const NO_POST = "service-bot-doctor";

/** In ms. A platform that takes longer counts as unable to answer. */
const TIMEOUT_MS = 5_000;

export interface Probed {
  /** Address of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Once aborted, scopes that are not known yet are `unknown`. */
  readonly signal?: AbortSignal | undefined;
  /** Sends the requests. Default: `fetch` of the process. */
  readonly fetch?: Fetch | undefined;
}

/**
 * Finds out which scopes a token has, by requests that change nothing: reads of one item, and empty writes. An empty write is
 * refused in any case, and the code says whether the scope is the reason (section 5, rules 2 to 4). It never rejects.
 */
export async function probeScopes(probed: Probed): Promise<Readonly<Record<Scope, ScopeAnswer>>> {
  const read = await probeScope(probed, "read");
  // An unknown token is probed once.
  const others = (scope: Scope) =>
    read === "refused" ? Promise.resolve(read) : probeScope(probed, scope);
  const [posts, comments, dm] = await Promise.all([
    others("posts:write"),
    others("comments:write"),
    others("dm"),
  ]);
  return { read, "posts:write": posts, "comments:write": comments, dm };
}

/** The same of one scope, by one request. */
export async function probeScope(probed: Probed, scope: Scope): Promise<ScopeAnswer> {
  const { baseUrl, apiKey, signal, fetch = globalThis.fetch } = probed;
  const options = { retries: 0, timeoutMs: TIMEOUT_MS, fetch: markAsDoctor(fetch) };
  const http = new Http({ baseUrl, apiKey, ...options });
  try {
    await ask(http, scope, signal);
    return "yes";
  } catch (error) {
    return error instanceof ApiError ? answerIn(error) : "unknown";
  }
}

function ask(http: Http, scope: Scope, signal: AbortSignal | undefined): Promise<unknown> {
  const any = z.unknown();
  switch (scope) {
    case "read":
      return http.request("GET", "/feed", any, { query: { limit: 1 }, signal });
    case "dm":
      return http.request("GET", "/dm/conversations", any, { query: { limit: 1 }, signal });
    case "posts:write":
      return http.request("POST", "/posts", any, { json: {}, signal });
    case "comments:write":
      return http.request("POST", "/posts/{id}/comments", any, { id: NO_POST, json: {}, signal });
  }
}

function answerIn(error: ApiError): ScopeAnswer {
  const { status, code } = error;
  if (status === 401) return "refused";
  if (isScopeMissing(error)) return "no";
  // Another 403, such as that of an app that is switched off, says nothing about the token; a quota does.
  if (status === 403) return "unknown";
  return (status < 500 && status !== 429) || code === "QUOTA_EXCEEDED" ? "yes" : "unknown";
}

/**
 * Returns whether a refusal says that the token lacks a scope. The code of a 403 of the reading endpoints is not shown, so a 403
 * without a code, or with one that names access, counts.
 */
export function isScopeMissing({ status, code, platformCode = "FORBIDDEN" }: ApiError): boolean {
  if (code === "AGENT_SCOPE_MISSING") return true;
  return status === 403 && /SCOPE|FORBIDDEN|PERMISSION/i.test(platformCode);
}
