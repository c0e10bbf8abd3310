import type { ScopeAnswer } from "../client/scopes.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { allScopes, type Scope } from "../core/platform-contract.ts";
import type { Tool } from "./tools/tool.ts";

/** In ms. Someone may give the token another scope. */
const GOOD_FOR_MS = 5 * 60_000;

/** In ms. While the platform cannot answer, not every list asks it again. */
const UNCERTAIN_FOR_MS = 60_000;

/** Asks the platform for the scopes of the token. */
export type Probe = () => Promise<Readonly<Record<Scope, ScopeAnswer>>>;

export interface AccessOptions {
  /** The only scopes that may be used. Default: those of the token, by the probe. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Knows which tools a token can use, without the token itself. Its scopes are given, or probed for the first list, and corrected by the
 * platform's answers to calls, because the platform alone decides.
 */
export class Access {
  readonly #given: readonly Scope[] | undefined;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #scopes: ReadonlySet<Scope> | undefined;
  #goodUntil: number;
  #probing: Promise<void> | undefined;

  constructor({ scopes, clock = systemClock }: AccessOptions = {}) {
    this.#given = scopes;
    this.#scopes = scopes && new Set(scopes);
    this.#goodUntil = scopes === undefined ? 0 : Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  /** Whether a tool may be used at all: never beyond the scopes that were given. */
  allows({ scopes }: Tool): boolean {
    const given = this.#given;
    return given === undefined || scopes.some((scope) => given.includes(scope));
  }

  /**
   * Selects the tools that the token can use. A scope that the platform cannot confirm now counts as present.
   *
   * @throws {TokenRefused}
   */
  async usable(tools: readonly Tool[], probe: Probe): Promise<readonly Tool[]> {
    if (this.#clock.now() >= this.#goodUntil) {
      // Simultaneous lists share one probe.
      this.#probing ??= this.#find(probe).finally(() => {
        this.#probing = undefined;
      });
      await this.#probing;
    }
    return tools.filter(({ scopes }) => scopes.some((scope) => this.#scopes?.has(scope)));
  }

  /** Removes scopes that the platform says the token lacks. */
  lose(missing: readonly Scope[]): void {
    const known = this.#scopes ?? new Set(allScopes);
    this.#become([...known].filter((scope) => !missing.includes(scope)));
  }

  /** Adds the scope that a successful call has proved: that of a tool with only one. */
  proveBy({ scopes: [scope, ...others], scopeAssumed }: Tool): void {
    if (scope === undefined || others.length > 0 || scopeAssumed === true) return;
    if (this.#scopes !== undefined) this.#become([...this.#scopes, scope]);
  }

  /** Calls `listener` when the usable tools change. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #become(scopes: Iterable<Scope>): void {
    const before = this.#scopes;
    const now = new Set(scopes);
    this.#scopes = now;
    // Without a list before, no client has seen the tools.
    if (before === undefined || allScopes.every((scope) => before.has(scope) === now.has(scope)))
      return;
    for (const listener of this.#listeners) listener();
  }

  async #find(probe: Probe): Promise<void> {
    const answers = await probe();
    if (answers.read === "refused") throw new TokenRefused();
    const isCertain = !Object.values(answers).includes("unknown");
    this.#goodUntil = this.#clock.now() + (isCertain ? GOOD_FOR_MS : UNCERTAIN_FOR_MS);
    const before = this.#scopes ?? new Set(allScopes);
    const has = (scope: Scope) =>
      answers[scope] === "yes" || (answers[scope] === "unknown" && before.has(scope));
    this.#become(allScopes.filter(has));
  }
}

/** The platform does not know the token, which can do nothing. */
export class TokenRefused extends Error {
  override readonly name = "TokenRefused";

  constructor() {
    super("The platform does not accept the bearer token: check it (over stdio, SERVICE_API_KEY).");
  }
}
