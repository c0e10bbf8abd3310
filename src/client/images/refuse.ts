import { type PlatformCode, ServiceBotError } from "../../errors.ts";
import { apiErrorOf } from "../errors.ts";

/** The codes of section 7 of the platform document that are given without asking the platform. */
export type LocalCode = Extract<
  PlatformCode,
  "EMPTY" | "TOO_MANY_IMAGES" | "TOO_LARGE" | "VALIDATION" | "BLOCKED_HOST"
>;

/**
 * Every refusal of this folder; nothing was sent.
 *
 * @param code what the platform would have answered (with 400); undefined where it would never have been asked
 * @throws {ApiError} with that code, and `local` set
 * @throws {ServiceBotError} INVALID_OPTION without one
 */
export function refuse(
  code: LocalCode | undefined,
  message: string,
  options?: ErrorOptions,
): never {
  if (code === undefined) throw new ServiceBotError("INVALID_OPTION", message, options);
  throw apiErrorOf(message, { status: 400, platformCode: code, local: true, ...options });
}
