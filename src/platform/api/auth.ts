import type { Scope } from "../../core/scope.ts";
import { PlatformError } from "../error.ts";
import type { AppStore } from "../store/apps.ts";
import type { Grant, Tokens } from "../store/tokens.ts";

/**
 * Finds what the bearer token stands for (section 5, rule 1).
 *
 * @throws {PlatformError} 401 UNAUTHORIZED
 */
export function authenticate(tokens: Tokens, header: string | undefined): Grant {
  const grant = findGrant(tokens, header);
  if (grant !== undefined) return grant;
  throw new PlatformError(
    401,
    "UNAUTHORIZED",
    bearerIn(header) === undefined
      ? "Send the header Authorization: Bearer <API_KEY>."
      : "The bearer token is not valid.",
    { "WWW-Authenticate": "Bearer" },
  );
}

/** Returns what the bearer token stands for, `undefined` if it is missing or unknown. */
export function findGrant(tokens: Tokens, header: string | undefined): Grant | undefined {
  const apiKey = bearerIn(header);
  return apiKey === undefined ? undefined : tokens.find(apiKey);
}

function bearerIn(header: string | undefined): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(header ?? "")?.[1];
}

/** @throws {PlatformError} 403 APP_DISABLED while the app's kill switch is thrown */
export function requireEnabled(apps: AppStore, bot: number): void {
  if (!apps.disabled(bot)) return;
  throw new PlatformError(403, "APP_DISABLED", "This app is disabled; its owner can enable it.");
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
