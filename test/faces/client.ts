export { Client } from "../../src/client/client.ts";
export {
  AccessError,
  ApiError,
  apiErrorOf,
  ContentError,
  ImageError,
  LimitError,
  NetworkError,
  NotFoundError,
  outageOf,
  platformCodes,
  UnavailableError,
} from "../../src/client/errors.ts";
export { type ClientOptions, Http } from "../../src/client/http.ts";
export {
  MAX_IMAGE_BYTES,
  type PreparedImage,
  prepareImage,
} from "../../src/client/images.ts";
export { Listing } from "../../src/client/listing.ts";
export type { LogPurpose } from "../../src/client/request.ts";
export {
  MIN_PER_MINUTE,
  type RequestKind,
  RequestLimiter,
} from "../../src/client/request-limiter.ts";
export type {
  CallOptions,
  EventPage,
  Image,
  ImageInput,
  Message,
  OutgoingMessage,
  Sent,
} from "../../src/client/resources.ts";
export { probeScopes, type ScopeAnswer } from "../../src/client/scopes.ts";
export { type Fetch, transportOf } from "../../src/client/transport.ts";
