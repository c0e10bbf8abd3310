import type { Scope } from "../../core/platform-contract.ts";
import type { Publisher } from "../events/publisher.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { Route } from "../http/routes.ts";
import type { Limits } from "../limits/limits.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import type { Uploads } from "../uploads/uploads.ts";
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

export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Ids of what the call made, for the timeline. */
  readonly created?: Created;
  /** Events that the answer shows, for the timeline. */
  readonly eventIds?: readonly string[];
}

/**
 * One operation of section 4. Synchronous, so that a call happens as a whole or not at all. An upload waits for its
 * download, and is then stored in one step.
 */
export interface Operation extends Route {
  readonly method: "GET" | "POST";
  /** The token needs one of these. */
  readonly scopes: readonly Scope[];
  /** Reads the body. Default: JSON of up to 1 MB. */
  readonly read?: (request: Request) => Promise<unknown>;
  /** @throws {PlatformError} */
  readonly handle: (call: Call) => CallAnswer | Promise<CallAnswer>;
}
