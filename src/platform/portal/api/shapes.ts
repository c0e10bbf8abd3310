/** What the control API answers, as it is described in docs/platform.md. */

export type { AnyEvent, EventType } from "../../../events/types.ts";
export type { ActInput, ActResult } from "../../acts/input.ts";
export type { ImageView, MessageView } from "../../api/shapes.ts";
export type {
  AppView,
  IssuedToken,
  NewApp,
  NotificationView,
  Profile,
  TokenView,
} from "../../apps/shapes.ts";
export type { ClockChange, ClockView } from "../../clock/clock-control.ts";
export type { DeliverResult } from "../../control/deliveries.ts";
export type {
  ControlComment,
  FaultsChange,
  FaultsState,
  PlatformState,
  StorageState,
} from "../../control/shapes.ts";
export type { LimitsView, LimitView } from "../../limits/limits.ts";
export type { LimitName, LimitSettings } from "../../limits/settings.ts";
export type { SnapshotView } from "../../state/snapshots.ts";
export type { Block } from "../../store/blocks.ts";
export type { Scope } from "../../store/tokens.ts";
export type {
  ApiEntry,
  AppEntry,
  DeliveryEntry,
  EventEntry,
  FaultEntry,
  StateEntry,
  TimelineEntry,
  WebhookEntry,
} from "../../timeline/entries.ts";
export type {
  DeliveryRecord,
  DeliverySummary,
  RecordedRequest,
  RecordedResponse,
} from "../../webhooks/record.ts";
export type { WebhookChange, WebhookView } from "../../webhooks/webhook.ts";

import type { AnyEvent } from "../../../events/types.ts";
import type { PostView } from "../../api/shapes.ts";
import type { DeliverySummary, RecordedResponse } from "../../webhooks/record.ts";

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export interface Member {
  readonly username: string;
  readonly name: string;
  readonly isBot: boolean;
}

export interface ConversationItem {
  readonly id: string;
  readonly group: boolean;
  readonly members: readonly Member[];
  readonly lastMessageAt: string;
  readonly lastMessage: {
    readonly id: string;
    readonly authorUsername: string;
    readonly text: string;
    readonly images: number;
  };
}

export interface FeedPost extends PostView {
  readonly likes: number;
  readonly reposts: number;
  readonly quotes: number;
  readonly comments: number;
  readonly quotedPostId: string | null;
}

export interface UploadedImage {
  readonly key: string;
  readonly url: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

export interface CallSummary {
  readonly id: string;
  readonly bot?: string;
  readonly method: string;
  readonly path: string;
  readonly at: string;
  readonly ms: number;
  readonly status: number | null;
  readonly fault?: string;
  readonly eventId?: string;
  readonly guessed?: boolean;
}

export interface CallRecord extends CallSummary {
  readonly request: {
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    readonly body: string;
    readonly truncated: boolean;
  };
  readonly response: RecordedResponse | null;
}

export interface EventDetail {
  readonly event: AnyEvent;
  readonly bot: string;
  readonly deliveries: readonly DeliverySummary[];
  readonly calls: readonly CallSummary[];
}

/** The bot as it sees itself: `GET /readyz?verbose` of it. */
export interface BotView {
  readonly url: string | null;
  readonly status: Readonly<Record<string, unknown>> | null;
  readonly error?: string;
}
