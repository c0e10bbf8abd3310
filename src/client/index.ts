/** The public names of `service-bot/client`: the API of the platform, without a bot. */

export type { BackoffOptions, Random } from "../core/backoff.ts";
export type { Clock, TimerOptions } from "../core/clock.ts";
export {
  type ApiErrorCode,
  type ErrorCode,
  type PlatformCode,
  ServiceBotError,
} from "../errors.ts";
export type { BreakerChange } from "./breaker.ts";
export { Client, type ClientOptions, type Users } from "./client.ts";
export type { Dms } from "./dms.ts";
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
} from "./errors.ts";
export type { Fetch, RequestReport } from "./http-options.ts";
export type { ImageBytes, ImageInput } from "./images/source.ts";
export type { BudgetWait, RequestsStatus } from "./limits.ts";
export { Listing } from "./listing.ts";
export type { UploadOptions } from "./operations.ts";
export type { Posts } from "./posts.ts";
export type { LogPurpose } from "./request.ts";
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
} from "./types.ts";
