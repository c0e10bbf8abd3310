import { DOCTOR_AGENT, type Scope } from "../core/platform-contract.ts";
import { anything } from "../core/shapes.ts";
import { ApiError } from "./errors.ts";
import { Http } from "./http.ts";
import type { Fetch } from "./transport.ts";

/** Marks requests as coming from the doctor. The local platform shows such requests separately. */
function markAsDoctor(send: Fetch): Fetch {
  return (url, init) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", DOCTOR_AGENT);
    return send(url, { ...init, headers });
  };
}

export const asDoctor: Fetch = (url, init) => markAsDoctor(fetch)(url, init);

/** Result of a probe. `unknown` means that the platform cannot respond now, `refused` that it rejects the token. */
export type ScopeAnswer = "yes" | "no" | "unknown" | "refused";

/** An id that no post has. */
const NO_POST = "service-bot-doctor";

/** Time limit for a probe, in ms. A slower platform counts as unable to respond. */
const TIMEOUT_MS = 5_000;

export interface Probed {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Once aborted, all remaining scopes are `unknown`. */
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
}

/**
 * Determines a token's scopes with requests that change nothing: reads of a single item, and empty writes. The platform
 * always rejects an empty write, and the error code shows whether the scope is the reason (section 5 of the platform
 * document, rules 2 to 4). Never rejects.
 */
export async function probeScopes(probed: Probed): Promise<Readonly<Record<Scope, ScopeAnswer>>> {
  const read = await probeScope(probed, "read");
  // If the token is unknown, a single probe is enough.
  const others = (scope: Scope) =>
    read === "refused" ? Promise.resolve(read) : probeScope(probed, scope);
  const [posts, comments, dm] = await Promise.all([
    others("posts:write"),
    others("comments:write"),
    others("dm"),
  ]);
  return { read, "posts:write": posts, "comments:write": comments, dm };
}

/** Probes one scope with one request. Never rejects. */
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
  switch (scope) {
    case "read":
      return http.request("GET", "/feed", anything, { query: { limit: 1 }, signal });
    case "dm":
      return http.request("GET", "/dm/conversations", anything, { query: { limit: 1 }, signal });
    case "posts:write":
      return http.request("POST", "/posts", anything, { json: {}, signal });
    case "comments:write":
      return http.request("POST", "/posts/{id}/comments", anything, {
        id: NO_POST,
        json: {},
        signal,
      });
  }
}

function answerIn(error: ApiError): ScopeAnswer {
  const { status, code } = error;
  if (status === 401) return "refused";
  if (isScopeMissing(error)) return "no";
  // Any other 403, for example because the app is disabled, does not reveal the token's scopes. A quota error does.
  if (status === 403) return "unknown";
  return (status < 500 && status !== 429) || code === "QUOTA_EXCEEDED" ? "yes" : "unknown";
}

/**
 * Returns whether an error means that the token lacks a scope. Section 7 of the platform document shows no code for a
 * 403 from the read endpoints, so a 403 also counts if it has no code, or a code that names access.
 */
export function isScopeMissing({ status, code, platformCode = "FORBIDDEN" }: ApiError): boolean {
  if (code === "AGENT_SCOPE_MISSING") return true;
  return status === 403 && /SCOPE|FORBIDDEN|PERMISSION/i.test(platformCode);
}
