/** Public API of `service-bot/client`: the platform's API, without a bot. */

export { type ErrorCode, type PlatformCode, ServiceBotError } from "../errors.ts";
export { Client } from "./client.ts";
export {
  AccessError,
  ApiError,
  ContentError,
  ImageError,
  LimitError,
  NetworkError,
  NotFoundError,
  UnavailableError,
} from "./errors.ts";
export type { ClientOptions } from "./http.ts";
export { Listing } from "./listing.ts";
export type {
  CallOptions,
  Comment,
  Conversation,
  EventPage,
  Image,
  ImageInput,
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
} from "./resources.ts";
