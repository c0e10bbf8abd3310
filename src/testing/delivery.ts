import { ANY_NUMBER, STRING } from "../core/kinds.ts";
import type { OptionTable } from "../core/option-checks.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import type { EventType, PayloadByType } from "../events/types.ts";
import { SIGNATURE_HEADER, sign } from "../signature/signature.ts";

export const SECRET = "whsec_for_tests_only";

/**
 * An event to deliver. Default: a new id and the current time. The payload of a known type is checked by the compiler.
 */
export interface TestEvent<T extends string = string> {
  /** Default: a new id, larger than all earlier ones. */
  readonly id?: string;
  /** A type of the platform, or any other. */
  readonly type: T;
  /** Delivered as it is, even if it lacks fields. */
  readonly payload: TestPayload<T>;
  /** ISO 8601, UTC. Default: the current time of the clock. */
  readonly createdAt?: string;
}

/**
 * Payload of a known type, possibly with fields that the platform added later (section 9 of the platform document). Any
 * object for other types.
 */
type TestPayload<T extends string> = T extends EventType
  ? PayloadByType[T] | (PayloadByType[T] & Readonly<Record<string, unknown>>)
  : object;

/** Options for forging a delivery. */
export interface DeliverOptions {
  /** Secret to sign with. Default: the bot's own. */
  readonly secret?: string;
  /** Time of the signature, in seconds since 1970. Default: the current time. */
  readonly timestamp?: number;
}

export const DELIVER_OPTIONS: OptionTable<DeliverOptions> = {
  secret: STRING,
  timestamp: ANY_NUMBER,
};

/** The bot's response to a delivery. */
export interface DeliveryAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Parsed JSON. */
  readonly body: unknown;
}

/** @throws {ServiceBotError} INVALID_OPTION */
function jsonOf(events: readonly object[]): string {
  try {
    return JSON.stringify({ events });
  } catch (cause) {
    const problem = `events must be JSON: ${messageOf(cause)}.`;
    throw new ServiceBotError("INVALID_OPTION", problem, { cause });
  }
}

/** Builds a signed delivery, as the platform would send it (section 4 of the platform document). */
export function signedDelivery(
  events: readonly object[],
  { secret, timestamp }: Required<DeliverOptions>,
): Request {
  const body = jsonOf(events);
  return new Request("http://bot.test/webhook", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      [SIGNATURE_HEADER]: sign(body, secret, timestamp),
    },
    body,
  });
}
