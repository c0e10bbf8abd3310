import type { Scope } from "../core/platform-contract.ts";
import { PlatformError } from "./error.ts";
import type { AppStore, Grant, Tokens } from "./store/apps.ts";

/** The bearer token of a request. Looks its grant up once, and again only if a token has changed since then. */
export class RequestToken {
  /** `undefined` if the request has no token. */
  readonly apiKey: string | undefined;
  readonly #tokens: Tokens;
  #grant: Grant | undefined;
  #changes: number | undefined;

  constructor(tokens: Tokens, { headers }: Request) {
    this.#tokens = tokens;
    this.apiKey = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  }

  /** `undefined` if the token is missing or unknown. */
  get grant(): Grant | undefined {
    const { changes } = this.#tokens;
    if (this.#changes !== changes) {
      this.#changes = changes;
      this.#grant = this.apiKey === undefined ? undefined : this.#tokens.find(this.apiKey);
    }
    return this.#grant;
  }

  /**
   * Returns the token's grant (section 5 of the platform document, rule 1).
   *
   * @throws {PlatformError} 401 UNAUTHORIZED
   */
  authenticate(): Grant {
    const { grant, apiKey } = this;
    if (grant !== undefined) return grant;
    const message =
      apiKey === undefined
        ? "Send the header Authorization: Bearer <API_KEY>."
        : "The bearer token is invalid.";
    throw new PlatformError(401, "UNAUTHORIZED", message, { "WWW-Authenticate": "Bearer" });
  }
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
