import { ServiceBotError } from "../../errors.ts";

/** The codes of section 7 of the platform document that are given without asking the platform. */
export type LocalCode = "EMPTY" | "TOO_MANY_IMAGES" | "TOO_LARGE" | "VALIDATION" | "BLOCKED_HOST";

/** What was to be sent cannot be sent; nothing of it was. */
export class InputError extends ServiceBotError {
  override readonly name = "InputError";
  /** What the platform would have answered; undefined where it would never have been asked. */
  readonly platformCode: LocalCode | undefined;

  constructor(platformCode: LocalCode | undefined, message: string, options?: ErrorOptions) {
    super("INVALID_OPTION", message, options);
    this.platformCode = platformCode;
  }
}

/**
 * Every refusal of this folder.
 *
 * @throws {InputError} INVALID_OPTION
 */
export function refuse(
  platformCode: LocalCode | undefined,
  message: string,
  options?: ErrorOptions,
): never {
  throw new InputError(platformCode, message, options);
}
