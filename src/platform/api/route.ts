import type { Query } from "../http/query.ts";
import type { Store } from "../store/store.ts";
import type { Scope } from "../store/tokens.ts";
import type { Created } from "../timeline/entries.ts";

/** A request that was let in. */
export interface Call {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The `:id` of the path; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: unknown;
  /** The scopes of the token. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
  /** What the call made, for the timeline. */
  readonly created?: Created;
}

/** One endpoint of section 4. Synchronous: a call happens as a whole or not at all. */
export interface Route {
  readonly method: "get" | "post";
  /** Below /api/v1. */
  readonly path: string;
  /** The token needs one of these. */
  readonly scopes: readonly Scope[];
  /** @throws {PlatformError} */
  readonly handle: (call: Call) => CallAnswer;
}
