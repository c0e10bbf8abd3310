import { ApiError } from "../client/errors.ts";
import type { ServiceBotError } from "../errors.ts";

/**
 * What an assistant can do about a code (section 7 of the platform document), where the error does not say it: those
 * of the platform bring its words alone, and for some codes a remedy of the client.
 */
const remedies: Readonly<Partial<Record<string, string>>> = {
  BLOCKED: "One of the two has blocked the other: nothing can be sent, so do not try again.",
  BLOCKED_HOST:
    "Give an https address on the public internet that answers without a redirect, or the image as dataBase64.",
  EMPTY: "Give text, imageKeys or both.",
  GROUP_UNSUPPORTED: "It is a group: only conversations of two can be answered.",
  NOT_IMAGE: "Give the address of the image itself: PNG, JPEG, WebP, GIF or AVIF.",
  TOO_LARGE: "An image has 5 MB at most: make it smaller.",
  TOO_LONG: "Shorten the text, or send it in parts.",
  TOO_MANY_IMAGES: "Attach at most 4.",
  VALIDATION: "Mend the arguments: the same ones will be refused again.",
  API_INVALID_RESPONSE:
    "Tell whoever has set this up: the platform may be newer than this service-bot.",
};

/** @returns undefined where the error says enough */
export function remedyFor(error: ServiceBotError, code: string): string | undefined {
  // What was refused here says what is wrong, and with what.
  const isLocal = error instanceof ApiError ? error.local : code !== "API_INVALID_RESPONSE";
  return isLocal || !Object.hasOwn(remedies, code) ? undefined : remedies[code];
}
