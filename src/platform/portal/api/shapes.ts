/** What the control API answers, as it is described in docs/platform.md. */

export type { AnyEvent, EventType } from "../../../events/types.ts";
export type { ActInput, ActResult } from "../../acts/input.ts";
export type { AuthorView, ImageView, MessageView, UploadView } from "../../api/shapes.ts";
export type {
  AppView,
  IssuedToken,
  NewApp,
  NotificationView,
  Profile,
  TokenView,
} from "../../apps/shapes.ts";
export type { CallRecord, CallSummary } from "../../calls.ts";
export type { ClockChange, ClockView } from "../../clock.ts";
export type { BotView } from "../../control/bot-view.ts";
export type { DeliverResult } from "../../control/deliveries.ts";
export type {
  ControlComment,
  ControlConversation,
  ControlPost,
  EventTrace,
  FaultsChange,
  FaultsState,
  PlatformState,
  StorageState,
} from "../../control/shapes.ts";
export type { Page } from "../../http/query.ts";
export type { LimitsView, LimitView } from "../../limits/limits.ts";
export type { LimitName, LimitSettings } from "../../limits/settings.ts";
export type { SnapshotView } from "../../state/snapshots.ts";
export type { Block } from "../../store/people.ts";
export type {
  DeliveryEntry,
  RunEntry,
  TimelineEntry,
} from "../../timeline/entries.ts";
export type { Scope } from "../../types.ts";
export type {
  DeliveryRecord,
  DeliverySummary,
  RecordedResponse,
} from "../../webhooks/records.ts";
export type { WebhookChange, WebhookView } from "../../webhooks/webhook.ts";
