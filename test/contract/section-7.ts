import {
  AccessError,
  type ApiError,
  ContentError,
  ImageError,
  LimitError,
  NotFoundError,
  UnavailableError,
} from "../faces/client.ts";
import type { PlatformCode } from "../faces/errors.ts";

/** Facts about an error code in section 7 of the platform document. */
export interface CodeFacts {
  readonly status: number;
  readonly family: new (...args: never[]) => ApiError;
  readonly remedy: RegExp;
}

/** Every error code in section 7. A code is retryable if its status is 429 or 5xx. */
export const section7: Readonly<Record<PlatformCode, CodeFacts>> = {
  BLOCKED_HOST: { status: 400, family: ImageError, remedy: /public https URL/ },
  NOT_IMAGE: { status: 400, family: ImageError, remedy: /the URL of the image itself/ },
  TOO_LARGE: { status: 400, family: ImageError, remedy: /Resize or compress/ },
  VALIDATION: { status: 400, family: ContentError, remedy: /Correct the arguments/ },
  INVALID_IMAGE_KEY: { status: 400, family: ImageError, remedy: /Upload the image again/ },
  TOO_MANY_IMAGES: { status: 400, family: ImageError, remedy: /at most 4/ },
  GROUP_UNSUPPORTED: {
    status: 400,
    family: ContentError,
    remedy: /conversations between two/,
  },
  EMPTY: { status: 400, family: ContentError, remedy: /Pass text, imageKeys or both/ },
  TOO_LONG: { status: 400, family: ContentError, remedy: /Shorten the text/ },
  AGENT_SCOPE_MISSING: { status: 403, family: AccessError, remedy: /scopes/ },
  BLOCKED: { status: 403, family: AccessError, remedy: /Do not try again/ },
  NOT_FOUND: {
    status: 404,
    family: NotFoundError,
    remedy: /does not exist, or the bot has no access/,
  },
  QUOTA_EXCEEDED: { status: 429, family: LimitError, remedy: /the next day\.$/ },
  NOT_CONFIGURED: { status: 503, family: UnavailableError, remedy: /no upload storage/ },
};
