export type { BreakerChange } from "../../src/client/breaker.ts";
export { Client, type ClientOptions } from "../../src/client/client.ts";
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
export { Http } from "../../src/client/http.ts";
export type { Fetch, RequestReport } from "../../src/client/http-options.ts";
export {
  type PreparedImage,
  prepareImage,
  prepareImages,
  uploadBody,
} from "../../src/client/images/prepare.ts";
export { untilAborted } from "../../src/client/images/read.ts";
export { checkContent, checkImage, MAX_IMAGE_BYTES } from "../../src/client/images/rules.ts";
export { type ImageBytes, type ImageInput, sourceOf } from "../../src/client/images/source.ts";
export { checkImageUrl } from "../../src/client/images/url.ts";
export { Listing } from "../../src/client/listing.ts";
export { type LogPurpose, operationOf } from "../../src/client/request.ts";
export {
  type BudgetWait,
  MIN_PER_MINUTE,
  type RequestKind,
  RequestLimiter,
} from "../../src/client/request-limiter.ts";
export { probeScopes, type ScopeAnswer } from "../../src/client/scopes.ts";
export type {
  CallOptions,
  EventPage,
  Image,
  Message,
  OutgoingMessage,
  Sent,
} from "../../src/client/types.ts";
