import { createHmac, randomBytes } from "node:crypto";
import { RateLimit } from "../../client/limits.ts";
import type { ScopeAnswer } from "../../client/scopes.ts";
import type { Clock } from "../../core/clock.ts";
import type { Access } from "../access.ts";

/** Tokens remembered of each kind, accepted and rejected. The one unused for longest is forgotten first. */
const MAX_TOKENS = 1_000;

/** Look-ups of unfamiliar tokens at once, so that strangers cannot flood the platform. */
const MAX_LOOKUPS = 16;

/** Look-ups in any minute of unfamiliar tokens that turn out not to be accepted. */
const MAX_FAILED_LOOKUPS_PER_MINUTE = 60;

/** Requests with unfamiliar tokens that wait for look-ups: as many as calls may be under way. */
const MAX_WAITING = 512;

/** The same with familiar ones included, so that strangers leave room for clients. */
const MAX_WAITING_IN_ALL = 1_024;

/** In ms. A revoked token opens nothing after this time, if the platform can answer. */
const TRUSTED_FOR_MS = 60_000;

/** In ms. Sooner than {@link TRUSTED_FOR_MS}, so that a busy client never waits for a look-up. */
const REFRESH_AFTER_MS = 30_000;

/** In ms. While the platform cannot answer, a token is trusted at most this long after it was accepted. */
const MAX_UNCONFIRMED_MS = 10 * 60_000;

/** In ms. All requests with one refused token cost the platform one request in this time. */
const REFUSED_FOR_MS = 60_000;

/** In ms. The platform gets this pause after it could not answer. */
const UNDECIDED_FOR_MS = 5_000;

/** In ms. Look-ups and waits end within seconds. */
const BUSY_RETRY_MS = 1_000;

/** A token that the platform knows. */
export interface AcceptedToken {
  readonly answer: "accepted";
  /** Identifies the token without revealing it. */
  readonly fingerprint: string;
  readonly access: Access;
}

/**
 * Result of a look-up: `refused` by the platform, `undecided` while the platform cannot answer, `busy` after too
 * many other look-ups.
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
  readonly acceptedAt: number;
  /** When the platform is asked again, while the token is still served. */
  readonly refreshAt: number;
  readonly until: number;
}

interface Rejected {
  readonly answer: "refused" | "undecided";
  readonly refreshAt: number;
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
  readonly #failures: RateLimit;
  #unfamiliarLookups = 0;
  #waiting = 0;

  constructor(options: TokenRegistryOptions) {
    this.#options = options;
    this.#failures = new RateLimit(MAX_FAILED_LOOKUPS_PER_MINUTE, options.clock);
  }

  /**
   * Checks a token. Simultaneous checks of one token share one request to the platform. A familiar token is served at
   * once and refreshed beside that, unless the platform's last answer is a minute old.
   */
  async check(token: string): Promise<TokenCheck> {
    const { clock } = this.#options;
    const fingerprint = this.#fingerprint(token);
    const accepted = this.#accepted.get(fingerprint);
    const entry = accepted ?? this.#rejected.get(fingerprint);
    const isPast = (time: number | undefined) => time === undefined || clock.now() >= time;
    if (isPast(entry?.until) && this.#waiting >= maxWaiting(accepted)) {
      return { answer: "busy", retryAfterMs: BUSY_RETRY_MS };
    }
    if (isPast(entry?.refreshAt) && !this.#lookups.has(fingerprint)) {
      const retryAfterMs = accepted === undefined ? this.#lookUpAfterMs() : 0;
      if (retryAfterMs > 0) return { answer: "busy", retryAfterMs };
      this.#startLookUp(fingerprint, token);
    }
    if (isPast(entry?.until)) await this.#wait(fingerprint);
    return this.#remembered(fingerprint);
  }

  #remembered(fingerprint: string): TokenCheck {
    const accepted = this.#accepted.get(fingerprint);
    if (accepted !== undefined && this.#options.clock.now() < accepted.until) {
      remember(this.#accepted, fingerprint, accepted);
      return { answer: "accepted", fingerprint, access: accepted.access };
    }
    const answer = this.#rejected.get(fingerprint)?.answer ?? "undecided";
    return answer === "refused" ? { answer } : { answer, retryAfterMs: UNDECIDED_FOR_MS };
  }

  /** Returns in how many ms an unfamiliar token may be looked up; 0 is now. */
  #lookUpAfterMs(): number {
    return this.#unfamiliarLookups >= MAX_LOOKUPS ? BUSY_RETRY_MS : this.#failures.freeInMs(1);
  }

  #startLookUp(fingerprint: string, token: string): void {
    const isFamiliar = this.#accepted.has(fingerprint);
    const lookup = isFamiliar
      ? this.#lookUp(fingerprint, token)
      : this.#lookUpUnfamiliar(fingerprint, token);
    const ended = lookup.finally(() => this.#lookups.delete(fingerprint));
    this.#lookups.set(fingerprint, ended);
  }

  async #lookUpUnfamiliar(fingerprint: string, token: string): Promise<void> {
    const failure = this.#failures.take();
    this.#unfamiliarLookups += 1;
    await this.#lookUp(fingerprint, token);
    this.#unfamiliarLookups -= 1;
    if (this.#accepted.has(fingerprint)) failure.giveBack();
    else failure.end();
  }

  async #wait(fingerprint: string): Promise<void> {
    this.#waiting += 1;
    try {
      await this.#lookups.get(fingerprint);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #lookUp(fingerprint: string, token: string): Promise<void> {
    const answer = await this.#options.lookUp(token);
    if (answer === "refused") this.#refuse(fingerprint);
    else if (answer === "unknown") this.#leaveUndecided(fingerprint);
    else this.#accept(fingerprint);
  }

  #accept(fingerprint: string): void {
    const { clock, newAccess } = this.#options;
    const now = clock.now();
    this.#rejected.delete(fingerprint);
    remember(this.#accepted, fingerprint, {
      access: this.#accepted.get(fingerprint)?.access ?? newAccess(),
      acceptedAt: now,
      refreshAt: now + REFRESH_AFTER_MS,
      until: now + TRUSTED_FOR_MS,
    });
  }

  #refuse(fingerprint: string): void {
    const until = this.#options.clock.now() + REFUSED_FOR_MS;
    this.#accepted.delete(fingerprint);
    remember(this.#rejected, fingerprint, { answer: "refused", refreshAt: until, until });
  }

  /** The platform checks the token of each call anyway, so a known client may go on for some minutes. */
  #leaveUndecided(fingerprint: string): void {
    const now = this.#options.clock.now();
    const refreshAt = now + UNDECIDED_FOR_MS;
    const accepted = this.#accepted.get(fingerprint);
    if (accepted === undefined) {
      const until = refreshAt;
      remember(this.#rejected, fingerprint, { answer: "undecided", refreshAt, until });
      return;
    }
    const until = Math.min(accepted.acceptedAt + MAX_UNCONFIRMED_MS, now + TRUSTED_FOR_MS);
    remember(this.#accepted, fingerprint, { ...accepted, refreshAt, until });
  }

  #fingerprint(token: string): string {
    return createHmac("sha256", this.#key).update(token).digest("base64url");
  }
}

function maxWaiting(accepted: Accepted | undefined): number {
  return accepted === undefined ? MAX_WAITING : MAX_WAITING_IN_ALL;
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
