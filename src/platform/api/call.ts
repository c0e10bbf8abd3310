import type { Scope } from "../../core/scope.ts";
import { PlatformError } from "../error.ts";
import type { Publisher } from "../events/publisher.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { AppStore, Grant, Tokens } from "../store/apps.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Uploads } from "../uploads/uploads.ts";
import type { Limits } from "./limits.ts";
import type { Views } from "./views.ts";

/** The parts of the platform that operations work with. */
export interface ApiParts {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly views: Views;
  readonly limits: Limits;
  readonly uploads: Uploads;
  readonly shown: ShownEvents;
}

/** A request that has passed the token, the kill switch, the rate limit and the scope. */
export interface Call extends ApiParts {
  /** The bot whose app calls. */
  readonly bot: User;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The parameter of the path; empty if the path has none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The scopes of the token. */
  readonly scopes: ReadonlySet<Scope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
}

/** Returns the grant of the bearer token. `undefined` for a missing or unknown token. */
export function findGrant(tokens: Tokens, { headers }: Request): Grant | undefined {
  const apiKey = bearerIn(headers);
  return apiKey === undefined ? undefined : tokens.find(apiKey);
}

/**
 * Returns the grant of the bearer token (section 5, rule 1).
 *
 * @throws {PlatformError} 401 UNAUTHORIZED
 */
export function authenticate(tokens: Tokens, request: Request): Grant {
  const grant = findGrant(tokens, request);
  if (grant !== undefined) return grant;
  const isMissing = bearerIn(request.headers) === undefined;
  const message = isMissing
    ? "Send the header Authorization: Bearer <API_KEY>."
    : "The bearer token is not valid.";
  throw new PlatformError(401, "UNAUTHORIZED", message, { "WWW-Authenticate": "Bearer" });
}

function bearerIn(headers: Headers): string | undefined {
  return /^Bearer +([\x21-\x7e]+)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** @throws {PlatformError} 403 APP_DISABLED while the app's kill switch is thrown */
export function requireEnabled(apps: AppStore, bot: number): void {
  if (!apps.disabled(bot)) return;
  throw new PlatformError(403, "APP_DISABLED", "This app is disabled; its owner can enable it.");
}

/** @throws {PlatformError} 403 AGENT_SCOPE_MISSING unless the token has one of these scopes */
export function requireScope(scopes: ReadonlySet<Scope>, oneOf: readonly Scope[]): void {
  if (oneOf.some((scope) => scopes.has(scope))) return;
  const needed = oneOf.join(" or ");
  throw new PlatformError(403, "AGENT_SCOPE_MISSING", `The token needs the scope ${needed}.`);
}
