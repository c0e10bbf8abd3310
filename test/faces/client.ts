export type { BreakerChange } from "../../src/client/breaker.ts";
export { type BudgetWait, RequestBudget } from "../../src/client/budget.ts";
export type { LogPurpose, RequestOptions } from "../../src/client/call.ts";
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
export { type Fetch, Http, type RequestReport } from "../../src/client/http.ts";
export { untilAborted } from "../../src/client/images/aborted.ts";
export { checkImage } from "../../src/client/images/check.ts";
export { checkContent } from "../../src/client/images/content.ts";
export { uploadBody } from "../../src/client/images/form.ts";
export { MAX_IMAGE_BYTES } from "../../src/client/images/limits.ts";
export {
  type PreparedImage,
  prepareImage,
  prepareImages,
} from "../../src/client/images/prepare.ts";
export { type ImageBytes, type ImageInput, sourceOf } from "../../src/client/images/source.ts";
export { checkImageUrl } from "../../src/client/images/url.ts";
export { Listing } from "../../src/client/listing.ts";
export { operationOf } from "../../src/client/operation.ts";
export { probeScopes, type ScopeAnswer } from "../../src/client/scopes.ts";
export type {
  CallOptions,
  EventPage,
  Image,
  Message,
  OutgoingMessage,
  Sent,
} from "../../src/client/types.ts";
export type { RequestKind } from "../../src/client/waiting.ts";
