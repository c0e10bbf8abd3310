import type { IncomingMessage } from "node:http";
import type { Scope } from "../../core/scope.ts";
import type { Publisher } from "../events/publisher.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { Query } from "../http/query.ts";
import type { Limits } from "../limits/limits.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import type { Uploads } from "../uploads/uploads.ts";
import type { Views } from "./views.ts";

/** The parts of the platform that endpoints work with. */
export interface ApiParts {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly views: Views;
  readonly limits: Limits;
  readonly uploads: Uploads;
  readonly shown: ShownEvents;
}

/** A request that was let in. */
export interface Call extends ApiParts {
  /** The bot whose app calls. */
  readonly bot: User;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The `:id` or `:username` of the path; empty where it has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: unknown;
  /** The scopes of the token. */
  readonly scopes: ReadonlySet<Scope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
}

export interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
  /** What the call made, for the timeline. */
  readonly created?: Created;
  /** The events that it shows, for the timeline. */
  readonly eventIds?: readonly string[];
}

/**
 * One endpoint of section 4. Synchronous, so that a call happens as a whole or not at all; an upload
 * waits for a download, and is then stored in one step.
 */
export interface Route {
  readonly method: "get" | "post";
  /** Below /api/v1. */
  readonly path: string;
  /** The token needs one of these. */
  readonly scopes: readonly Scope[];
  /** Reads the body; JSON of up to 1 MB when absent. */
  readonly read?: (request: IncomingMessage) => Promise<unknown>;
  /** @throws {PlatformError} */
  readonly handle: (call: Call) => CallAnswer | Promise<CallAnswer>;
}
