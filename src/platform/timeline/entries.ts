import type { RunReport } from "../../core/platform-contract.ts";

/** An event was written to the log of a bot. */
export interface EventEntry {
  readonly kind: "event";
  /** The username of the bot. */
  readonly bot: string;
  readonly id: string;
  readonly type: string;
  /** The username of who did it. */
  readonly from: string;
  /** The conversation that the payload names. */
  readonly conversationId?: string;
  /** The post that the payload names. */
  readonly postId?: string;
  /** The id of the message, comment or post that was written. Absent without one. */
  readonly contentId?: string;
  /** The whole text that was written. Absent without one. */
  readonly text?: string;
  /** In ms. Delay of an event that a fault keeps out of the log for a while. */
  readonly lateMs?: number;
}

/** Fault that a delivery met. */
export type DeliveryFault =
  | "status"
  | "drop"
  | "timeout"
  | "lose-answer"
  | "twice"
  | "shuffle"
  | "delay";

/** A webhook delivery was tried. */
export interface DeliveryEntry {
  readonly kind: "delivery";
  /** The id of its record: `GET /control/v1/deliveries/:id`. */
  readonly id: string;
  /** The username of the bot whose app it is. */
  readonly bot: string;
  readonly eventIds: readonly string[];
  /** The HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** Milliseconds until the answer or the error. */
  readonly ms: number;
  /** Which try this was, from 1 up. */
  readonly attempt: number;
  /** True for `POST /control/v1/deliveries`: such a delivery changes nothing in the schedule. */
  readonly forced: boolean;
  /** Why it failed; absent when it was answered with 200 to 299. */
  readonly error?: string;
  /** The fault that touched it. */
  readonly fault?: DeliveryFault;
}

/** The ids of what a request made. */
export interface Created {
  readonly conversationId?: string;
  readonly messageId?: string;
  readonly postId?: string;
  readonly commentId?: string;
}

/** A request to the API came to its end. */
export interface ApiEntry {
  readonly kind: "api";
  /** The id of its record: `GET /control/v1/calls/:id`. */
  readonly id: string;
  /** The username of the bot that called; absent where no valid token says it. */
  readonly bot?: string;
  /** Present where `service-bot doctor` asked with the bot's token, by its User-Agent. */
  readonly doctor?: true;
  readonly method: string;
  /** Below /api/v1, without the query. */
  readonly path: string;
  /** Null when no answer was sent: the client went away, or a fault lost the answer. */
  readonly status: number | null;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** The `text` of the body, where there is one; of one that is too long, the first 4000 characters. */
  readonly text?: string;
  /** Present when something was made, even if the answer that says so was lost. */
  readonly created?: Created;
  /** The events that a page of the log held; absent where it held none. */
  readonly eventIds?: readonly string[];
  /** The event because of which the bot called: as it says by `X-Service-Event`, or as it is guessed. */
  readonly eventId?: string;
  /** True where it is guessed: the newest event of this conversation or post that the bot was shown before. */
  readonly guessed?: true;
  /** The fault that touched the request. */
  readonly fault?: "hold" | "slow" | "status" | "lose-answer" | "gateway";
}

/** The configuration or the health of an app's webhook changed. */
export interface WebhookEntry {
  readonly kind: "webhook";
  /** The username of the bot whose app it is. */
  readonly bot: string;
  readonly change: "enabled" | "disabled" | "saved" | "secret";
  readonly reason: string;
}

/** A bot reported a run of its handlers. The next attempt is due `retryInMs` after `at`. */
export interface RunEntry extends RunReport {
  readonly kind: "run";
  /** The username of the bot. */
  readonly bot: string;
}

/** A dead letter was set to run again, or an event was discarded, in the inbox of its bot. */
export interface InboxEntry {
  readonly kind: "inbox";
  /** The username of the bot. */
  readonly bot: string;
  readonly eventId: string;
  readonly change: "retried" | "discarded";
}

/** An app came into being, or its kill switch or its tokens changed. */
export interface AppEntry {
  readonly kind: "app";
  /** The username of its bot. */
  readonly bot: string;
  readonly change: "created" | "disabled" | "enabled" | "token created" | "token revoked";
}

/** A fault was set, came to its end, or holds or lets go of a request or an event. */
export interface FaultEntry {
  readonly kind: "fault";
  readonly target: "webhook" | "api" | "events";
  readonly change: "set" | "ended" | "held" | "released";
  readonly detail: string;
  /** The event because of which the bot sent a request that is held or released. */
  readonly eventId?: string;
  /** The username of that bot. */
  readonly bot?: string;
}

/** The state as a whole, or the clock, was taken in hand. */
export interface StateEntry {
  readonly kind: "state";
  readonly change: "snapshot" | "restored" | "reset" | "clock";
  readonly detail: string;
}

/** Something that happened, as the timeline keeps it. */
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

/** One line of the timeline. `seq` counts from 1 up while the platform runs; `at` is ISO 8601, UTC. */
export type TimelineEntry = TimelineRecord & { readonly seq: number; readonly at: string };
