import type { RunReport } from "../../core/platform-contract.ts";

/** An event was written to a bot's log. */
export interface EventEntry {
  readonly kind: "event";
  /** Username of the receiving bot. */
  readonly bot: string;
  readonly id: string;
  readonly type: string;
  /** Username of the account that caused the event. */
  readonly from: string;
  /** Conversation id in the payload. */
  readonly conversationId?: string;
  /** Post id in the payload. */
  readonly postId?: string;
  /** Id of the new message, comment or post. Omitted for an event without content. */
  readonly contentId?: string;
  /** Full text of the content. Omitted for an event without content. */
  readonly text?: string;
  /** Delay until the event enters the log, in ms, if a fault makes it late. */
  readonly lateMs?: number;
}

/** Fault that affected a delivery. */
export type DeliveryFault =
  | "status"
  | "drop"
  | "timeout"
  | "lose-answer"
  | "twice"
  | "shuffle"
  | "delay";

/** A webhook delivery was attempted. */
export interface DeliveryEntry {
  readonly kind: "delivery";
  /** Id of the delivery's record: `GET /control/v1/deliveries/:id`. */
  readonly id: string;
  /** Username of the receiving bot. */
  readonly bot: string;
  readonly eventIds: readonly string[];
  /** HTTP status of the response. `null` if there was no response. */
  readonly status: number | null;
  /** Time until the response or the error, in ms. */
  readonly ms: number;
  /** Attempt number, starting at 1. */
  readonly attempt: number;
  /** True for `POST /control/v1/deliveries`. A forced delivery does not change the schedule. */
  readonly forced: boolean;
  /** Reason for the failure. Omitted if the status is 200 to 299. */
  readonly error?: string;
  /** The fault that affected the delivery. */
  readonly fault?: DeliveryFault;
}

/** Ids of content that a request created. */
export interface Created {
  readonly conversationId?: string;
  readonly messageId?: string;
  readonly postId?: string;
  readonly commentId?: string;
}

/** An API request ended. */
export interface ApiEntry {
  readonly kind: "api";
  /** Id of the call's record: `GET /control/v1/calls/:id`. */
  readonly id: string;
  /** Username of the calling bot. Omitted if the request had no valid token. */
  readonly bot?: string;
  /**
   * Set for requests that `service-bot doctor` sends with the bot's token. The platform identifies them by their
   * User-Agent.
   */
  readonly doctor?: true;
  readonly method: string;
  /** Path below /api/v1, without the query. */
  readonly path: string;
  /** `null` if no response was sent, because the client disconnected or a fault dropped the response. */
  readonly status: number | null;
  /** Time until the response, in ms. */
  readonly ms: number;
  /** `text` in the request body, truncated to 4,000 characters. */
  readonly text?: string;
  /** Content that the request created, even if the response was lost. */
  readonly created?: Created;
  /** Events in the returned log page. Omitted if there were none. */
  readonly eventIds?: readonly string[];
  /**
   * The event that caused the call: the bot's `X-Service-Event`, or a guess. Omitted if the bot named an event that is
   * not in its log, such as one of the author's own service.
   */
  readonly eventId?: string;
  /**
   * True if the event is a guess, because the bot named none: the last event that the bot had received for this
   * conversation or post.
   */
  readonly guessed?: true;
  /** The fault that affected the request. */
  readonly fault?: "hold" | "slow" | "status" | "lose-answer" | "gateway";
}

/** The configuration or health of an app's webhook changed. */
export interface WebhookEntry {
  readonly kind: "webhook";
  /** Username of the app's bot. */
  readonly bot: string;
  readonly change: "enabled" | "disabled" | "saved" | "secret";
  readonly reason: string;
}

/** A bot reported a handler run. The next attempt is due `retryInMs` after `at`. */
export interface RunEntry extends RunReport {
  readonly kind: "run";
  /** Username of the reporting bot. */
  readonly bot: string;
}

/** A dead letter was retried or an event was discarded in the bot's inbox. */
export interface InboxEntry {
  readonly kind: "inbox";
  readonly bot: string;
  readonly eventId: string;
  readonly change: "retried" | "discarded";
}

/** An app was created, or its kill switch or tokens changed. */
export interface AppEntry {
  readonly kind: "app";
  /** Username of the app's bot. */
  readonly bot: string;
  readonly change: "created" | "disabled" | "enabled" | "token created" | "token revoked";
}

/** A fault was set or ended, or a fault held or released a request or an event. */
export interface FaultEntry {
  readonly kind: "fault";
  readonly target: "webhook" | "api" | "events";
  readonly change: "set" | "ended" | "held" | "released";
  readonly detail: string;
  /** The event that caused the held or released request. */
  readonly eventId?: string;
  /** Username of the bot that sent the request. */
  readonly bot?: string;
}

/** The whole state or the clock was changed. */
export interface StateEntry {
  readonly kind: "state";
  readonly change: "snapshot" | "restored" | "reset" | "clock";
  readonly detail: string;
}

/** A timeline entry without its number and time. */
export type TimelineRecord =
  | EventEntry
  | DeliveryEntry
  | ApiEntry
  | RunEntry
  | InboxEntry
  | WebhookEntry
  | AppEntry
  | FaultEntry
  | StateEntry;

/** A timeline entry. `seq` starts at 1 when the platform starts; `at` is ISO 8601, UTC. */
export type TimelineEntry = TimelineRecord & { readonly seq: number; readonly at: string };
