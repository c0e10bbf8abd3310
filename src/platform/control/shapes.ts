import * as z from "zod";
import type { AnyEvent } from "../../events/types.ts";
import type { Profile } from "../accounts.ts";
import { type ApiFaultInput, type ApiFaultState, apiFaultInput } from "../faults/api-faults.ts";
import {
  type EventFaultInput,
  type EventFaultState,
  eventFaultInput,
} from "../faults/event-faults.ts";
import {
  type WebhookFault,
  type WebhookFaultInput,
  webhookFaultInput,
} from "../faults/webhook-faults.ts";
import type { PageInput } from "../http/query.ts";
import type { CallSummary } from "../timeline/calls.ts";
import type { EntryOf } from "../timeline/timeline.ts";
import type { AuthorView, CommentView, MessageView, PostView } from "../views.ts";
import type { DeliverySummary } from "../webhooks/records.ts";
import type { WebhookView } from "../webhooks/webhook.ts";

/** Overview of one app's state on the platform. */
export interface PlatformState {
  readonly bot: Profile;
  /** All users, without bots. */
  readonly people: readonly Profile[];
  readonly webhook: WebhookView;
  /** Id of the newest event in the bot's log. `null` if the log is empty. */
  readonly lastEventId: string | null;
  /** Number of the newest timeline entry. */
  readonly timelineSeq: number;
  /** Usernames of bots that report their runs. */
  readonly reportingBots: readonly string[];
}

/** Active faults. */
export interface FaultsState {
  readonly webhook: WebhookFault;
  readonly api: ApiFaultState;
  readonly events: EventFaultState;
}

/** Whether the server can store images (section 7 of the platform document, NOT_CONFIGURED). */
export interface StorageState {
  readonly configured: boolean;
}

export const storageState: z.ZodType<StorageState> = z.strictObject({ configured: z.boolean() });

/** Selects a page of deliveries. */
export type DeliveriesInput = PageInput;

/** Faults to set. Omitted targets keep their faults. */
export interface FaultsChange {
  readonly webhook?: WebhookFaultInput | undefined;
  readonly api?: ApiFaultInput | undefined;
  readonly events?: EventFaultInput | undefined;
}

export const faultsChange: z.ZodType<FaultsChange> = z.strictObject({
  webhook: webhookFaultInput.optional(),
  api: apiFaultInput.optional(),
  events: eventFaultInput.optional(),
});

/** A message in the control API. `fromBot` is true if any bot wrote it. */
export type ControlMessage = MessageView;

/** A comment with the id of the comment that it replies to. */
export type ControlComment = CommentView & { readonly replyToId: string | null };

/** Selects messages in a conversation. */
export interface MessagesInput {
  /** Page size, 1 to 50. Default 20. */
  readonly limit?: number | undefined;
  /** Id of a message. Selects the messages before it. Default: the newest messages. */
  readonly before?: string | undefined;
}

/** A page of messages, oldest first. */
export interface MessagesPage {
  readonly items: readonly ControlMessage[];
  /** True if there are older messages. */
  readonly more: boolean;
}

/** Selects conversations. */
export interface ConversationsInput extends PageInput {
  /** Username of a member. Default: the conversations of all users. */
  readonly of?: string | undefined;
}

/** A direct or group conversation with its latest message. */
export interface ControlConversation {
  readonly id: string;
  readonly group: boolean;
  readonly members: readonly AuthorView[];
  /** ISO 8601, UTC. */
  readonly lastMessageAt: string;
  readonly lastMessage: {
    readonly id: string;
    readonly authorUsername: string;
    /** Empty for a message with only images, and for a deleted message. */
    readonly text: string;
    readonly images: number;
  };
}

/** A post with its reactions. */
export interface ControlPost extends PostView {
  readonly likes: number;
  readonly reposts: number;
  readonly quotes: number;
  readonly comments: number;
  /** Id of the quoted post. `null` if this post quotes no other post. */
  readonly quotedPostId: string | null;
}

/** An event with everything it caused. */
export interface EventTrace {
  readonly event: AnyEvent;
  /** Username of the receiving bot. */
  readonly bot: string;
  /** Deliveries that included the event, oldest first. Older records may have been evicted. */
  readonly deliveries: readonly DeliverySummary[];
  /** API calls caused by the event, oldest first. Older records may have been evicted. */
  readonly calls: readonly CallSummary[];
  /** Reported runs, oldest first. Empty if the bot does not report runs. */
  readonly runs: readonly EntryOf<"run">[];
}
