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

/** The facts about a code of section 7 of the platform document. */
export interface CodeFacts {
  /** The status that comes with the code. */
  readonly status: number;
  /** The class of the error that the client throws. */
  readonly family: new (
    ...args: never[]
  ) => ApiError;
  /** The remedy that a tool names after an answer of the platform. */
  readonly remedy: RegExp;
}

/** Every code of section 7. `retryable` follows from the status: 429 and above. */
export const section7: Readonly<Record<PlatformCode, CodeFacts>> = {
  BLOCKED_HOST: { status: 400, family: ImageError, remedy: /https address on the public internet/ },
  NOT_IMAGE: { status: 400, family: ImageError, remedy: /the address of the image itself/ },
  TOO_LARGE: { status: 400, family: ImageError, remedy: /make it smaller/ },
  VALIDATION: { status: 400, family: ContentError, remedy: /Mend the arguments/ },
  INVALID_IMAGE_KEY: { status: 400, family: ImageError, remedy: /upload again/ },
  TOO_MANY_IMAGES: { status: 400, family: ImageError, remedy: /at most 4/ },
  GROUP_UNSUPPORTED: { status: 400, family: ContentError, remedy: /only conversations of two/ },
  EMPTY: { status: 400, family: ContentError, remedy: /Give text, imageKeys or both/ },
  TOO_LONG: { status: 400, family: ContentError, remedy: /Shorten the text/ },
  AGENT_SCOPE_MISSING: { status: 403, family: AccessError, remedy: /scopes of the token/ },
  BLOCKED: { status: 403, family: AccessError, remedy: /do not try again/ },
  NOT_FOUND: {
    status: 404,
    family: NotFoundError,
    remedy: /no such thing, or the bot has no part/,
  },
  QUOTA_EXCEEDED: { status: 429, family: LimitError, remedy: /the next day\.$/ },
  NOT_CONFIGURED: { status: 503, family: UnavailableError, remedy: /no storage for uploads/ },
};
