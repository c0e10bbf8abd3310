export type {
  ReportedError,
  ReportedOutcome,
  RunReport,
  Scope,
} from "../core/platform-contract.ts";
export type { AnyEvent, EventType } from "../events/types.ts";
export type { AccountInput, BlockInput, GroupInput, GroupResult, Profile } from "./accounts.ts";
export type { ActInput, ActResult, ActType } from "./acts/input.ts";
export type {
  AppChange,
  Apps,
  AppView,
  IssuedToken,
  NewApp,
  NotificationView,
  TokenView,
} from "./apps.ts";
export type { ClockChange, ClockControl, ClockView } from "./clock.ts";
export type {
  BotInboxes,
  CronView,
  InboxDecision,
  InboxView,
  StatesInput,
  StateView,
  TimersInput,
  TimersToFire,
  TimerView,
} from "./control/bot-inboxes.ts";
export type { BotView } from "./control/bot-view.ts";
export type {
  ControlComment,
  ControlConversation,
  ControlMessage,
  ControlPost,
  ConversationsInput,
  DeliveriesInput,
  EventTrace,
  FaultsChange,
  FaultsState,
  MessagesInput,
  MessagesPage,
  PlatformState,
  StorageState,
} from "./control/shapes.ts";
export type { PlatformError, PlatformErrorCode } from "./error.ts";
export type { ApiFault, ApiFaultInput, ApiFaultState } from "./faults/api-faults.ts";
export type { EventFault, EventFaultInput, EventFaultState } from "./faults/event-faults.ts";
export type { WebhookFault, WebhookFaultInput } from "./faults/webhook-faults.ts";
export type { Page, PageInput } from "./http/query.ts";
export type { LimitName, LimitSettings, LimitsView, LimitView } from "./limits.ts";
export type { Snapshots, SnapshotView } from "./snapshots.ts";
export type { Block } from "./store/people.ts";
export type { CallRecord, CallSummary } from "./timeline/calls.ts";
export type {
  ApiEntry,
  AppEntry,
  Created,
  DeliveryEntry,
  DeliveryFault,
  EventEntry,
  FaultEntry,
  InboxEntry,
  RunEntry,
  StateEntry,
  TimelineEntry,
  TimelineRecord,
  WebhookEntry,
} from "./timeline/entries.ts";
export type { RecordedRequest, RecordedResponse } from "./timeline/recorded.ts";
export type { EntryOf, TimelineListener, WaitOptions } from "./timeline/timeline.ts";
export type { ImageInput } from "./uploads/uploads.ts";
export type { AuthorView, ImageView, MessageView, UploadView } from "./views.ts";
export type {
  DeliverInput,
  DeliverResult,
  DeliveryCommand,
  DeliveryContent,
} from "./webhooks/forced.ts";
export type { DeliveryRecord, DeliverySummary } from "./webhooks/records.ts";
export type { DeliveryResult } from "./webhooks/sender.ts";
export type { WebhookChange, WebhookView } from "./webhooks/webhook.ts";
