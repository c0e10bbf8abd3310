import type { ScopeAnswer } from "../client/scopes.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { allScopes, type Scope } from "../core/scope.ts";
import type { Tool } from "./tools/tool.ts";

/** What was found out is good for so long, in milliseconds: somebody may give the token another scope. */
const GOOD_FOR_MS = 5 * 60_000;

/** The same where the platform could not say: it is not asked with each list while it is away. */
const UNCERTAIN_FOR_MS = 60_000;

/** Finds out what the token may do. */
export type Probe = () => Promise<Readonly<Record<Scope, ScopeAnswer>>>;

export interface AccessOptions {
  /** The only scopes that are to be used, where somebody says which. */
  readonly given?: readonly Scope[] | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Which tools a token can use; the token itself is not here. Its scopes are given, or found out when somebody wants to
 * know, and put right by what the platform answers to calls: it alone decides, and this is what is known of it.
 */
export class Access {
  readonly #given: readonly Scope[] | undefined;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  /** Undefined until they were found out. */
  #scopes: ReadonlySet<Scope> | undefined;
  #goodUntil: number;
  /** What was lost while it is being found out: the answers may be older. */
  readonly #lostMeanwhile = new Set<Scope>();
  #asking: Promise<ReadonlySet<Scope>> | undefined;

  constructor({ given, clock = systemClock }: AccessOptions = {}) {
    this.#given = given;
    this.#scopes = given === undefined ? undefined : new Set(given);
    this.#goodUntil = given === undefined ? 0 : Number.POSITIVE_INFINITY;
    this.#clock = clock;
  }

  /** Whether a tool may be used at all: with scopes that were given, none beyond them. */
  allows({ scopes }: Tool): boolean {
    const given = this.#given;
    return given === undefined || scopes.some((scope) => given.includes(scope));
  }

  /**
   * Those of the tools that the token can use. A scope of which the platform cannot tell now counts as there: a call
   * will show.
   *
   * @throws {TokenRefused}
   */
  async usable(tools: readonly Tool[], probe: Probe): Promise<readonly Tool[]> {
    const scopes = await this.scopes(probe);
    return tools.filter((tool) => tool.scopes.some((scope) => scopes.has(scope)));
  }

  /**
   * The scopes of the token, as far as is known.
   *
   * @throws {TokenRefused}
   */
  async scopes(probe: Probe): Promise<ReadonlySet<Scope>> {
    if (this.#scopes !== undefined && this.#clock.now() < this.#goodUntil) return this.#scopes;
    // However many ask at once, the platform is asked once.
    this.#asking ??= this.#find(probe).finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking;
  }

  /** The platform says that the token has none of these. */
  lost(missing: readonly Scope[]): void {
    if (this.#asking !== undefined) for (const scope of missing) this.#lostMeanwhile.add(scope);
    const known = this.#scopes ?? new Set(allScopes);
    this.#become(new Set([...known].filter((scope) => !missing.includes(scope))));
  }

  /** A call has shown that the token has this. */
  gained(scope: Scope): void {
    if (this.#scopes !== undefined) this.#become(new Set([...this.#scopes, scope]));
  }

  /** Calls `listener` when other tools can be used than before. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #become(scopes: ReadonlySet<Scope>): void {
    const before = this.#scopes;
    this.#scopes = scopes;
    // What nobody has heard of yet is no news.
    if (before === undefined || isSame(scopes, before)) return;
    for (const listener of this.#listeners) listener();
  }

  async #find(probe: Probe): Promise<ReadonlySet<Scope>> {
    this.#lostMeanwhile.clear();
    const answers = await probe();
    if (answers.read === "refused") throw new TokenRefused();
    const isCertain = !Object.values(answers).includes("unknown");
    this.#goodUntil = this.#clock.now() + (isCertain ? GOOD_FOR_MS : UNCERTAIN_FOR_MS);
    const before = this.#scopes ?? new Set(allScopes);
    const found = allScopes.filter(
      (scope) =>
        !this.#lostMeanwhile.has(scope) &&
        (answers[scope] === "yes" || (answers[scope] === "unknown" && before.has(scope))),
    );
    this.#become(new Set(found));
    return this.#scopes ?? before;
  }
}

function isSame(some: ReadonlySet<Scope>, others: ReadonlySet<Scope>): boolean {
  return some.size === others.size && [...some].every((scope) => others.has(scope));
}

/** The platform does not know the token: it can do nothing. */
export class TokenRefused extends Error {
  override readonly name = "TokenRefused";

  constructor() {
    super("The platform does not accept the bearer token: check it (over stdio, SERVICE_API_KEY).");
  }
}
