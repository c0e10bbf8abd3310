import { createHmac, randomBytes } from "node:crypto";
import type { ScopeAnswer } from "../client/scopes.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { allScopes, type Scope } from "../core/platform-contract.ts";
import type { Tool } from "./tool.ts";

/** Lifetime of probed scopes, in ms. Short, because a token's owner may change its scopes. */
const SCOPES_VALID_MS = 5 * 60_000;

/** Time until the next probe if some scopes could not be checked, in ms. */
const UNCERTAIN_SCOPES_VALID_MS = 60_000;

export type Probe = () => Promise<Readonly<Record<Scope, ScopeAnswer>>>;

export interface AccessOptions {
  /** Permitted scopes. Default: the token's probed scopes. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * A token's scopes, without the token itself. They are configured, or probed for the first list of tools. Later
 * responses from the platform correct them.
 */
export class Access {
  readonly #given: readonly Scope[] | undefined;
  readonly #clock: Clock;
  #scopes: ReadonlySet<Scope> | undefined;
  #validUntil: number;
  #probing: Promise<void> | undefined;

  constructor({ scopes, clock = systemClock }: AccessOptions = {}) {
    this.#given = scopes;
    this.#scopes = scopes && new Set(scopes);
    this.#validUntil = scopes === undefined ? 0 : Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  allows({ scopes }: Tool): boolean {
    const given = this.#given;
    return given === undefined || scopes.some((scope) => given.includes(scope));
  }

  /**
   * Returns the tools that the token can use. If the platform cannot confirm a scope now, its tools are included.
   *
   * @throws {TokenRefused}
   */
  async usable(tools: readonly Tool[], probe: Probe): Promise<readonly Tool[]> {
    if (this.#clock.now() >= this.#validUntil) {
      // Concurrent lists share one probe.
      this.#probing ??= this.#probe(probe).finally(() => {
        this.#probing = undefined;
      });
      await this.#probing;
    }
    return tools.filter(({ scopes }) => scopes.some((scope) => this.#scopes?.has(scope)));
  }

  remove(missing: readonly Scope[]): void {
    const known = this.#scopes ?? new Set(allScopes);
    this.#scopes = new Set([...known].filter((scope) => !missing.includes(scope)));
  }

  /** Adds the scope of a successful call. With several possible scopes, the call does not prove any of them. */
  addProvedBy({ scopes: [scope, ...others], scopeAssumed }: Tool): void {
    if (scope === undefined || others.length > 0 || scopeAssumed === true) return;
    if (this.#scopes !== undefined) this.#scopes = new Set([...this.#scopes, scope]);
  }

  async #probe(probe: Probe): Promise<void> {
    const answers = await probe();
    if (answers.read === "refused") throw new TokenRefused();
    const isCertain = !Object.values(answers).includes("unknown");
    const validMs = isCertain ? SCOPES_VALID_MS : UNCERTAIN_SCOPES_VALID_MS;
    this.#validUntil = this.#clock.now() + validMs;
    const before = this.#scopes ?? new Set(allScopes);
    const has = (scope: Scope) =>
      answers[scope] === "yes" || (answers[scope] === "unknown" && before.has(scope));
    this.#scopes = new Set(allScopes.filter(has));
  }
}

export class TokenRefused extends Error {
  override readonly name = "TokenRefused";

  constructor() {
    super("The platform rejects the bearer token. Check the token (over stdio, SERVICE_API_KEY).");
  }
}

/** Maximum number of accepted tokens in the cache, and of refused ones. The oldest check is evicted first. */
const MAX_TOKENS = 1_000;

/** Lifetime of a token check, in ms. A revoked token works for this long at most. */
const TOKEN_VALID_MS = 60_000;

export interface TokensOptions {
  /** Checks whether the platform knows a token. Never rejects. */
  readonly lookUp: (token: string) => Promise<ScopeAnswer>;
  readonly newAccess: () => Access;
  readonly clock: Clock;
}

/**
 * Caches token checks by a fingerprint that only this process can compute. Refused tokens have their own capacity, so
 * strangers cannot evict the tokens of clients.
 */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #key = randomBytes(32);
  readonly #accepted = new Map<string, { readonly access: Access; readonly until: number }>();
  readonly #refused = new Map<string, { readonly until: number }>();
  readonly #lookups = new Map<string, Promise<Access | "refused" | "unknown">>();

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  isFamiliar(token: string): boolean {
    return this.#accepted.has(this.#fingerprint(token));
  }

  /**
   * Returns the access of an accepted token. Concurrent checks share one request. While the platform cannot respond, an
   * accepted token stays valid, because the platform checks it again on each call.
   */
  async check(token: string): Promise<Access | "refused" | "unknown"> {
    const fingerprint = this.#fingerprint(token);
    const now = this.#options.clock.now();
    const accepted = this.#accepted.get(fingerprint);
    if (accepted !== undefined && now < accepted.until) return accepted.access;
    if (now < (this.#refused.get(fingerprint)?.until ?? 0)) return "refused";
    const lookup = this.#lookups.get(fingerprint) ?? this.#lookUp(fingerprint, token);
    this.#lookups.set(fingerprint, lookup);
    return await lookup;
  }

  async #lookUp(fingerprint: string, token: string): Promise<Access | "refused" | "unknown"> {
    const { lookUp, newAccess, clock } = this.#options;
    const answer = await lookUp(token);
    this.#lookups.delete(fingerprint);
    const until = clock.now() + TOKEN_VALID_MS;
    if (answer === "refused") {
      this.#accepted.delete(fingerprint);
      remember(this.#refused, fingerprint, { until });
      return "refused";
    }
    const known = this.#accepted.get(fingerprint)?.access;
    if (answer === "unknown" && known === undefined) return "unknown";
    const access = known ?? newAccess();
    remember(this.#accepted, fingerprint, { access, until });
    return access;
  }

  #fingerprint(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64url");
  }
}

function remember<Entry>(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key);
  entries.set(key, entry);
  for (const earliest of entries.keys()) {
    if (entries.size <= MAX_TOKENS) break;
    entries.delete(earliest);
  }
}
