export type { Scope } from "../core/platform-contract.ts";
export type { AnyEvent, EventType } from "../events/types.ts";
export type { GroupResult, Profile } from "./accounts.ts";
export type { ActInput, ActResult } from "./acts/input.ts";
export type { AppView, IssuedToken, NewApp, NotificationView, TokenView } from "./apps.ts";
export type { ClockChange, ClockView } from "./clock.ts";
export type {
  CronView,
  InboxDecision,
  InboxView,
  StateView,
  TimersToFire,
  TimerView,
} from "./control/bot-inboxes.ts";
export type { BotView } from "./control/bot-view.ts";
export type {
  ControlComment,
  ControlConversation,
  ControlMessage,
  ControlPost,
  EventTrace,
  FaultsChange,
  FaultsState,
  MessagesPage,
  PlatformState,
  StorageState,
} from "./control/shapes.ts";
export type { WebhookFaultInput } from "./faults/webhook-faults.ts";
export type { Page } from "./http/query.ts";
export type { LimitName, LimitSettings, LimitsView, LimitView } from "./limits.ts";
export type { SnapshotView } from "./snapshots.ts";
export type { Block } from "./store/people.ts";
export type { CallRecord } from "./timeline/calls.ts";
export type { ApiEntry, TimelineEntry, TimelineRecord } from "./timeline/entries.ts";
export type { RecordedResponse } from "./timeline/recorded.ts";
export type { EntryOf, TimelineListener, WaitOptions } from "./timeline/timeline.ts";
export type { AuthorView, ImageView, MessageView, UploadView } from "./views.ts";
export type {
  DeliverInput,
  DeliverResult,
  DeliveryCommand,
  DeliveryContent,
} from "./webhooks/forced.ts";
export type { DeliveryRecord, DeliverySummary } from "./webhooks/records.ts";
export type { WebhookChange, WebhookView } from "./webhooks/webhook.ts";
