/** The public names of `service-bot`: the bot, what handlers get, events, the inbox, errors and signatures. */

export { Bot } from "./bot.ts";
export type { BreakerChange } from "./client/breaker.ts";
export { Client, type ClientOptions, type Users } from "./client/client.ts";
export type { Dms } from "./client/dms.ts";
export {
  AccessError,
  ApiError,
  type ApiErrorDetails,
  ContentError,
  ImageError,
  LimitError,
  NetworkError,
  NotFoundError,
  platformCodes,
  UnavailableError,
} from "./client/errors.ts";
export type { Fetch, RequestReport } from "./client/http-options.ts";
export type { ImageBytes, ImageInput } from "./client/images/source.ts";
export type { BudgetWait, RequestsStatus } from "./client/limits.ts";
export { Listing } from "./client/listing.ts";
export type { UploadOptions } from "./client/operations.ts";
export type { Posts } from "./client/posts.ts";
export type { LogPurpose } from "./client/request.ts";
export type {
  CallOptions,
  Comment,
  Conversation,
  EventPage,
  Image,
  Message,
  OutgoingMessage,
  Page,
  PageOptions,
  Post,
  Profile,
  SearchHit,
  SearchQuery,
  Sent,
  SentComment,
  SentMessage,
  SentPost,
  Upload,
} from "./client/types.ts";
export type { ConfigOverrides, DeliveryMode } from "./config.ts";
export type { BackoffOptions, Random } from "./core/backoff.ts";
export type { Clock, TimerOptions } from "./core/clock.ts";
export type { HandlerOptions, LoopGuardOptions } from "./core/handler-options.ts";
export type { Jsonify } from "./core/jsonify.ts";
export type { Logger, LogLevel } from "./core/logger.ts";
export {
  type ApiErrorCode,
  ConfigError,
  type ErrorCode,
  GiveUp,
  type PlatformCode,
  RetryLater,
  ServiceBotError,
} from "./errors.ts";
export type { LaneOf } from "./events/lane.ts";
export { eventTypes } from "./events/parse.ts";
export type {
  ActivityPayload,
  Actor,
  AnyEvent,
  DmMessagePayload,
  EventOf,
  EventType,
  FollowPayload,
  KnownEvent,
  PayloadByType,
  Sender,
  UnknownEvent,
} from "./events/types.ts";
export type {
  InboxAdmin,
  InboxChange,
  InboxDecisionOptions,
  InboxDiscardFilter,
  InboxFilter,
  InboxListOptions,
  InboxPage,
  InboxProgress,
  InboxRetryFilter,
  InboxRetryOptions,
} from "./inbox/admin.ts";
export type { Retention } from "./inbox/inbox.ts";
export type {
  AttemptRecord,
  EventDetails,
  EventState,
  EventSummary,
  InboxReport,
  InboxStats,
  LaneReport,
  StepRecord,
  StorageReport,
} from "./inbox/records.ts";
export type { ChannelMessages, WorkMessages } from "./observe/channels.ts";
export type {
  BotStatus,
  InboxStatus,
  InstanceStatus,
  InstancesStatus,
  LogStatus,
  PollerLease,
  RestoredStatus,
} from "./observe/status.ts";
export type { BotOptions, StartOptions } from "./options.ts";
export type { Mode } from "./poller/mode.ts";
export type { PollFailure } from "./poller/record.ts";
export type { WebhookMiddleware } from "./receiver/adapters.ts";
export type { Context, EventFor } from "./router/context.ts";
export type { ErrorObserver, Handler, Middleware } from "./router/router.ts";
export { sign, type Verdict, type VerifyOptions, verify } from "./signature/signature.ts";
export type { StepOptions, WriteOptions, WriteResult } from "./steps/writes.ts";
