import type { AnyEvent } from "../../events/types.ts";
import type { Profile } from "../accounts.ts";
import type { AuthorView, CommentView, MessageView, PostView } from "../api/views.ts";
import type { ApiFaultInput, ApiFaultState } from "../faults/api-faults.ts";
import type { EventFaultInput, EventFaultState } from "../faults/event-faults.ts";
import type { WebhookFault, WebhookFaultInput } from "../faults/webhook-faults.ts";
import type { PageInput } from "../http/query.ts";
import type { CallSummary } from "../timeline/calls.ts";
import type { EntryOf } from "../timeline/timeline.ts";
import type { DeliverySummary } from "../webhooks/records.ts";
import type { WebhookView } from "../webhooks/webhook.ts";

/** The state of the platform at a glance, as it concerns one app. */
export interface PlatformState {
  readonly bot: Profile;
  /** Everybody but the bots. */
  readonly people: readonly Profile[];
  readonly webhook: WebhookView;
  /** The newest event of the bot's log; null when there is none. */
  readonly lastEventId: string | null;
  /** The number of the newest timeline entry. */
  readonly timelineSeq: number;
  /** The usernames of the bots that report their runs. */
  readonly reportingBots: readonly string[];
}

/** The faults that are set. */
export interface FaultsState {
  readonly webhook: WebhookFault;
  readonly api: ApiFaultState;
  readonly events: EventFaultState;
}

/** Whether the server can keep images (section 7, NOT_CONFIGURED). */
export interface StorageState {
  readonly configured: boolean;
}

/** A page of the deliveries that were made. */
export type DeliveriesInput = PageInput;

/** Absent parts stay as they are. */
export interface FaultsChange {
  readonly webhook?: WebhookFaultInput | undefined;
  readonly api?: ApiFaultInput | undefined;
  readonly events?: EventFaultInput | undefined;
}

/** A message as everybody sees it: `fromBot` is true where a bot has written it. */
export type ControlMessage = MessageView;

/** A comment with the id of the comment that it answers. */
export type ControlComment = CommentView & { readonly replyToId: string | null };

/** Which messages of a conversation. */
export interface MessagesInput {
  /** 1 to 50. Default 20. */
  readonly limit?: number | undefined;
  /** The id of a message: those before it. Default: the newest ones. */
  readonly before?: string | undefined;
}

/** A part of a conversation, oldest first. */
export interface MessagesPage {
  readonly items: readonly ControlMessage[];
  /** True when there are older ones. */
  readonly more: boolean;
}

/** Which conversations. */
export interface ConversationsInput extends PageInput {
  /** Username of a member. Default: the conversations of all users. */
  readonly of?: string | undefined;
}

/** A conversation of two, or a group, with its latest message. */
export interface ControlConversation {
  readonly id: string;
  readonly group: boolean;
  readonly members: readonly AuthorView[];
  /** ISO 8601, UTC. */
  readonly lastMessageAt: string;
  readonly lastMessage: {
    readonly id: string;
    readonly authorUsername: string;
    /** Empty where there are images alone, and in a message that was deleted. */
    readonly text: string;
    /** How many. */
    readonly images: number;
  };
}

/** A post with what came of it. */
export interface ControlPost extends PostView {
  /** How many. */
  readonly likes: number;
  /** How many. */
  readonly reposts: number;
  /** How many. */
  readonly quotes: number;
  /** How many. */
  readonly comments: number;
  /** The post that this one quotes. */
  readonly quotedPostId: string | null;
}

/** An event with what became of it. */
export interface EventTrace {
  readonly event: AnyEvent;
  /** The username of the bot in whose log it is. */
  readonly bot: string;
  /** Deliveries that held the event, oldest first, as far as their records are kept. */
  readonly deliveries: readonly DeliverySummary[];
  /** Calls of the bot because of the event, oldest first, as far as their records are kept. */
  readonly calls: readonly CallSummary[];
  /** Runs that the bot has reported, oldest first; empty for a bot that reports none. */
  readonly runs: readonly EntryOf<"run">[];
}
