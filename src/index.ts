/**
 * Public API of `service-bot`: bots, handler contexts, events, the inbox, errors and signatures. Other types can be
 * derived from these, such as `BotOptions["retention"]`. Types for the platform's API are in `service-bot/client`.
 */

export { Bot } from "./bot.ts";
export {
  AccessError,
  ApiError,
  ContentError,
  ImageError,
  LimitError,
  NetworkError,
  NotFoundError,
  UnavailableError,
} from "./client/errors.ts";
export type { ImageInput, OutgoingMessage } from "./client/resources.ts";
export type { HandlerOptions } from "./core/handler-options.ts";
export type { Logger } from "./core/logger.ts";
export type { Span, When } from "./core/span.ts";
export type { StandardSchemaV1 } from "./core/standard-schema.ts";
export { ConfigError, type ErrorCode, GiveUp, RetryLater, ServiceBotError } from "./errors.ts";
export { eventTypes } from "./events/payload.ts";
export type {
  AnyEvent,
  CronEvent,
  CronPayload,
  EventFor,
  EventOf,
  EventType,
  KnownEvent,
  PayloadByType,
  TimerEvent,
  TimerPayload,
  UnknownEvent,
  UnknownEventType,
} from "./events/types.ts";
export type { InboxAdmin, InboxFilter } from "./inbox/admin.ts";
export type { EventDetails, EventState, EventSummary } from "./inbox/event-records.ts";
export type { ChannelMessages, WorkMessages } from "./observe/channels.ts";
export type { BotStatus } from "./observe/status.ts";
export type { BotOptions, MiddlewareOptions, StartOptions } from "./options.ts";
export type { Context, CustomContext, StepOptions, WriteOptions } from "./router/context.ts";
export type { LaterOptions } from "./router/effects.ts";
export type {
  Boundary,
  CronContext,
  ErrorObserver,
  Handler,
  Middleware,
  Next,
  TimerContext,
  WithState,
} from "./router/handler.ts";
export type {
  Command,
  CommandContext,
  CommandFields,
  CommandOptions,
  HearsContext,
  HearsFields,
  HearsOptions,
} from "./router/matching.ts";
export type { ReceivedMessage } from "./router/message.ts";
export type { CronOptions } from "./router/registration.ts";
export { Router } from "./router/router.ts";
export { sign, type Verdict, type VerifyOptions, verify } from "./signature/signature.ts";
