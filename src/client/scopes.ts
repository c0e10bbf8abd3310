import { asDoctor } from "./as-doctor.ts";
import { ApiError } from "./errors.ts";
import { Http } from "./http.ts";
import { commentsPath, conversationsPath } from "./paths.ts";

/** The scopes of a token (section 5, rule 2 of the platform document). */
export const scopes = ["read", "posts:write", "comments:write", "dm"] as const;

export type Scope = (typeof scopes)[number];

/**
 * What a probe has found out about a scope: `unknown` where the platform cannot say it now, `refused` where it does
 * not know the token at all.
 */
export type ScopeAnswer = "yes" | "no" | "unknown" | "refused";

/** No post has this id; and there is nothing in what is sent. */
const NO_POST = "service-bot-doctor";

/** A platform that takes longer cannot say it now; in milliseconds. */
const TIMEOUT_MS = 5_000;

interface Probed {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/**
 * Finds out which scopes a token has, by requests that change nothing: reads of one item, and writes without text
 * and images, which the scope refuses, or else their emptiness (section 4, "Attaching images"; section 5, rules 2 to
 * 4). It never rejects.
 */
export async function probeScopes({
  baseUrl,
  apiKey,
}: Probed): Promise<Readonly<Record<Scope, ScopeAnswer>>> {
  const http = new Http({ baseUrl, apiKey, retries: 0, timeoutMs: TIMEOUT_MS, fetch: asDoctor });
  const first = await probe(http, "read");
  const others: readonly Scope[] = ["posts:write", "comments:write", "dm"];
  // A token that is not known is asked about once.
  const answers =
    first === "refused" ? others.map(() => first) : others.map((scope) => probe(http, scope));
  const [posts, comments, dm] = await Promise.all(answers);
  return {
    read: first,
    "posts:write": posts ?? "unknown",
    "comments:write": comments ?? "unknown",
    dm: dm ?? "unknown",
  };
}

async function probe(http: Http, scope: Scope): Promise<ScopeAnswer> {
  try {
    await ask(http, scope);
    return "yes";
  } catch (error) {
    return error instanceof ApiError ? answerIn(error) : "unknown";
  }
}

function ask(http: Http, scope: Scope): Promise<unknown> {
  switch (scope) {
    case "read":
      return http.request("GET", "/feed", { query: { limit: 1 } });
    case "dm":
      return http.request("GET", conversationsPath, { query: { limit: 1 } });
    case "posts:write":
      return http.request("POST", "/posts", { json: {} });
    case "comments:write":
      return http.request("POST", commentsPath(NO_POST), { json: {} });
  }
}

function answerIn({ status, code, platformCode = "FORBIDDEN" }: ApiError): ScopeAnswer {
  if (status === 401) return "refused";
  if (code === "AGENT_SCOPE_MISSING") return "no";
  // Which code a 403 of the reading endpoints has is not shown. One that speaks of something else, such as an app
  // that is switched off, says nothing about the token.
  if (status === 403) return /SCOPE|FORBIDDEN|PERMISSION/i.test(platformCode) ? "no" : "unknown";
  return status < 500 && status !== 429 ? "yes" : "unknown";
}
