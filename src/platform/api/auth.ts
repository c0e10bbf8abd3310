import { PlatformError } from "../error.ts";
import type { Scope, Tokens } from "../store/tokens.ts";

/**
 * Finds the scopes of the bearer token (section 5, rule 1).
 *
 * @throws {PlatformError} 401 UNAUTHORIZED
 */
export function authenticate(tokens: Tokens, header: string | undefined): ReadonlySet<Scope> {
  const apiKey = /^Bearer +([\x21-\x7e]+)$/i.exec(header ?? "")?.[1];
  const scopes = apiKey === undefined ? undefined : tokens.scopesOf(apiKey);
  if (scopes !== undefined) return scopes;
  throw new PlatformError(
    401,
    "UNAUTHORIZED",
    apiKey === undefined
      ? "Send the header Authorization: Bearer <API_KEY>."
      : "The bearer token is not valid.",
    { "WWW-Authenticate": "Bearer" },
  );
}

/** @throws {PlatformError} 403 AGENT_SCOPE_MISSING unless the token has one of these scopes */
export function requireScope(scopes: ReadonlySet<Scope>, oneOf: readonly Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return;
  throw new PlatformError(
    403,
    "AGENT_SCOPE_MISSING",
    `The token needs the scope ${oneOf.join(" or ")}.`,
  );
}
