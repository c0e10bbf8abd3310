import { createHmac, randomBytes } from "node:crypto";
import type { ScopeAnswer } from "../client/scopes.ts";
import type { Clock } from "../core/clock.ts";
import type { Access } from "./access.ts";

/** Tokens remembered of each kind, accepted and refused. The earliest look-up is forgotten first. */
const MAX_TOKENS = 1_000;

/** In ms. How long an answer of the platform is good: a revoked token opens nothing after this time. */
const GOOD_FOR_MS = 60_000;

export interface TokensOptions {
  /** Asks the platform whether it knows a token. Never rejects. */
  readonly lookUp: (token: string) => Promise<ScopeAnswer>;
  readonly newAccess: () => Access;
  readonly clock: Clock;
}

/**
 * Remembers for a minute what the platform said about tokens, by a fingerprint that only this process can compute.
 * Accepted and refused tokens have separate room, so strangers displace no client.
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

  /** Whether the platform accepted a token before. */
  isFamiliar(token: string): boolean {
    return this.#accepted.has(this.#fingerprint(token));
  }

  /**
   * Returns the access of a token that the platform knows. Simultaneous checks share one request. While the platform
   * cannot answer, a familiar token goes on, because the platform checks it with each call anyway.
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
    const until = clock.now() + GOOD_FOR_MS;
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

/** Stores an entry as the latest one, and forgets the earliest beyond {@link MAX_TOKENS}. */
function remember<Entry>(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key);
  entries.set(key, entry);
  for (const earliest of entries.keys()) {
    if (entries.size <= MAX_TOKENS) break;
    entries.delete(earliest);
  }
}
