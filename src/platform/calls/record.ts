import type { ApiEntry } from "../timeline/entries.ts";
import type { RecordedRequest, RecordedResponse } from "../webhooks/record.ts";

/** A request of a bot to the API that came to its end. */
export interface CallSummary {
  /** Such as `call_17`; numbers start again with the process. */
  readonly id: string;
  /** The username of the bot that called; absent where no valid token says it. */
  readonly bot?: string;
  readonly method: string;
  /** Below /api/v1, without the query. */
  readonly path: string;
  /** When it came: ISO 8601, UTC. */
  readonly at: string;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** Null when no answer was sent: the client went away, or a fault lost the answer. */
  readonly status: number | null;
  /** The fault that touched it. */
  readonly fault?: NonNullable<ApiEntry["fault"]>;
  /** The event because of which the bot called, as it says or as it is guessed. */
  readonly eventId?: string;
  readonly guessed?: true;
}

/** A call with both bodies. */
export interface CallRecord extends CallSummary {
  /** As it came, without what makes the token one. Of uploads, and of what was refused unread, there is no body. */
  readonly request: RecordedRequest;
  /** As it was made, also where a fault lost it on the way; null when none was made. */
  readonly response: RecordedResponse | null;
}
