import { createHmac, randomBytes } from "node:crypto";
import type { ScopeAnswer } from "../../client/scopes.ts";
import type { Clock } from "../../core/clock.ts";
import type { Access } from "../access.ts";

/** Tokens remembered of each kind, accepted and rejected. The one unused for longest is forgotten first. */
const MAX_TOKENS = 1_000;

/** Look-ups of unfamiliar tokens at once, so that strangers cannot flood the platform. */
const MAX_LOOKUPS = 16;

/** In ms. A revoked token opens nothing after this time. */
const ACCEPTED_FOR_MS = 60_000;

/** In ms. All requests with one refused token cost the platform one request in this time. */
const REFUSED_FOR_MS = 60_000;

/** In ms. The platform gets this pause after it could not answer. */
const UNDECIDED_FOR_MS = 5_000;

/** A token that the platform knows. */
export interface AcceptedToken {
  readonly answer: "accepted";
  /** Identifies the token without revealing it. */
  readonly fingerprint: string;
  readonly access: Access;
}

/**
 * Result of a look-up: `refused` by the platform, `undecided` while the platform cannot answer, `busy` while too many
 * other look-ups are under way.
 */
export type TokenCheck =
  | AcceptedToken
  | { readonly answer: "refused" }
  | { readonly answer: "undecided" | "busy"; readonly retryAfterMs: number };

export interface TokenRegistryOptions {
  /** Asks the platform whether it knows a token. Never rejects. */
  readonly lookUp: (token: string) => Promise<ScopeAnswer>;
  readonly newAccess: () => Access;
  readonly clock: Clock;
}

interface Accepted {
  readonly access: Access;
  readonly until: number;
}

interface Rejected {
  readonly answer: "refused" | "undecided";
  readonly until: number;
}

/**
 * Remembers what the platform said about tokens, by a fingerprint that only this process can compute. No token is kept.
 * Accepted and rejected tokens have separate room, so that strangers displace no client.
 */
export class TokenRegistry {
  readonly #options: TokenRegistryOptions;
  readonly #key = randomBytes(32);
  readonly #accepted = new Map<string, Accepted>();
  readonly #rejected = new Map<string, Rejected>();
  readonly #lookups = new Map<string, Promise<void>>();

  constructor(options: TokenRegistryOptions) {
    this.#options = options;
  }

  /** Checks a token. Simultaneous checks of one token share one request to the platform. */
  async check(token: string): Promise<TokenCheck> {
    const fingerprint = this.#fingerprint(token);
    if (!this.#isRemembered(fingerprint)) {
      const isUnfamiliar = !this.#accepted.has(fingerprint) && !this.#lookups.has(fingerprint);
      if (isUnfamiliar && this.#lookups.size >= MAX_LOOKUPS) {
        return { answer: "busy", retryAfterMs: 1_000 };
      }
      await this.#lookUpOnce(fingerprint, token);
    }
    return this.#remembered(fingerprint);
  }

  #remembered(fingerprint: string): TokenCheck {
    const accepted = this.#accepted.get(fingerprint);
    if (accepted !== undefined) {
      remember(this.#accepted, fingerprint, accepted);
      return { answer: "accepted", fingerprint, access: accepted.access };
    }
    const answer = this.#rejected.get(fingerprint)?.answer ?? "undecided";
    return answer === "refused" ? { answer } : { answer, retryAfterMs: UNDECIDED_FOR_MS };
  }

  #isRemembered(fingerprint: string): boolean {
    const entry = this.#accepted.get(fingerprint) ?? this.#rejected.get(fingerprint);
    return entry !== undefined && this.#options.clock.now() < entry.until;
  }

  #lookUpOnce(fingerprint: string, token: string): Promise<void> {
    const lookup =
      this.#lookups.get(fingerprint) ??
      this.#lookUp(fingerprint, token).finally(() => this.#lookups.delete(fingerprint));
    this.#lookups.set(fingerprint, lookup);
    return lookup;
  }

  async #lookUp(fingerprint: string, token: string): Promise<void> {
    const { lookUp, newAccess, clock } = this.#options;
    const answer = await lookUp(token);
    const now = clock.now();
    const access = this.#accepted.get(fingerprint)?.access;
    if (answer === "refused") {
      this.#accepted.delete(fingerprint);
      remember(this.#rejected, fingerprint, { answer, until: now + REFUSED_FOR_MS });
    } else if (answer !== "unknown") {
      this.#rejected.delete(fingerprint);
      const until = now + ACCEPTED_FOR_MS;
      remember(this.#accepted, fingerprint, { access: access ?? newAccess(), until });
    } else if (access !== undefined) {
      // The platform checks the token of each call anyway, so a known client may go on.
      remember(this.#accepted, fingerprint, { access, until: now + UNDECIDED_FOR_MS });
    } else {
      const until = now + UNDECIDED_FOR_MS;
      remember(this.#rejected, fingerprint, { answer: "undecided", until });
    }
  }

  #fingerprint(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64url");
  }
}

/** Stores an entry as the most recent one, and forgets the least recent ones beyond {@link MAX_TOKENS}. */
function remember<Entry>(entries: Map<string, Entry>, key: string, entry: Entry): void {
  entries.delete(key);
  entries.set(key, entry);
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_TOKENS) break;
    entries.delete(oldest);
  }
}
