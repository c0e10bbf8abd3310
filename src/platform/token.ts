import type { Scope } from "../core/platform-contract.ts";
import { PlatformError } from "./error.ts";
import type { AppStore, Grant, Tokens } from "./store/apps.ts";

/** Returns the bearer token's grant, or `undefined` if the token is missing or unknown. */
export function findGrant(tokens: Tokens, { headers }: Request): Grant | undefined {
  const apiKey = bearerIn(headers);
  return apiKey === undefined ? undefined : tokens.find(apiKey);
}

/**
 * Returns the bearer token's grant (section 5 of the platform document, rule 1).
 *
 * @throws {PlatformError} 401 UNAUTHORIZED
 */
export function authenticate(tokens: Tokens, request: Request): Grant {
  const grant = findGrant(tokens, request);
  if (grant !== undefined) return grant;
  const isMissing = bearerIn(request.headers) === undefined;
  const message = isMissing
    ? "Send the header Authorization: Bearer <API_KEY>."
    : "The bearer token is invalid.";
  throw new PlatformError(401, "UNAUTHORIZED", message, { "WWW-Authenticate": "Bearer" });
}

export function bearerIn(headers: Headers): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** @throws {PlatformError} 403 APP_DISABLED while the app's kill switch is on */
export function requireEnabled(apps: AppStore, bot: number): void {
  if (!apps.disabled(bot)) return;
  throw new PlatformError(403, "APP_DISABLED", "This app is disabled; its owner can enable it.");
}

/** @throws {PlatformError} 403 AGENT_SCOPE_MISSING unless the token has one of these scopes */
export function requireScope(scopes: ReadonlySet<Scope>, oneOf: readonly Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return;
  const needed = oneOf.join(" or ");
  throw new PlatformError(403, "AGENT_SCOPE_MISSING", `The token needs the ${needed} scope.`);
}
