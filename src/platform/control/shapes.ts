import type { CommentView, MessageView } from "../api/shapes.ts";
import type { Profile } from "../apps/shapes.ts";
import type { ApiFaultInput, ApiFaultState } from "../faults/api-faults.ts";
import type { EventFaultInput, EventFaultState } from "../faults/event-faults.ts";
import type { WebhookFault } from "../faults/webhook-fault.ts";
import type { WebhookFaultInput } from "../faults/webhook-faults.ts";
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
}

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
export interface DeliveriesInput {
  /** 1 to 50. Default 20. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

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
