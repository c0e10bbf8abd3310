import type { OptionTable } from "../core/option-checks.ts";
import type { EventType, PayloadByType } from "../events/types.ts";
import { SIGNATURE_HEADER, sign } from "../signature/signature.ts";

/** Signing secret of a bot under test. */
export const SECRET = "whsec_for_tests_only";

/** Event to deliver. Defaults: a new id and the current time. The compiler checks the payload of a known type. */
export interface TestEvent<T extends string = string> {
  readonly id?: string;
  readonly type: T;
  readonly payload: TestPayload<T>;
  readonly createdAt?: string;
}

/**
 * Payload of a known type, possibly with fields that the platform added later (section 9 of the platform document), or
 * any object.
 */
type TestPayload<T extends string> = T extends EventType
  ? PayloadByType[T] | (PayloadByType[T] & Readonly<Record<string, unknown>>)
  : object;

/** Options for a forged delivery. */
export interface DeliverOptions {
  /** Signs with this secret instead of the bot's own. */
  readonly secret?: string;
  /** Signs with this time instead of the current time, in seconds since 1970. */
  readonly timestamp?: number;
}

export const DELIVER_OPTIONS: OptionTable<DeliverOptions> = { secret: true, timestamp: true };

/** The bot's response to a delivery. */
export interface DeliveryAnswer {
  /** HTTP status. */
  readonly status: number;
  readonly body: unknown;
}

/** Builds a signed delivery, as the platform sends it to the webhook (section 4 of the platform document). */
export function signedDelivery(
  events: readonly object[],
  { secret, timestamp }: Required<DeliverOptions>,
): Request {
  const body = JSON.stringify({ events });
  return new Request("http://bot.test/webhook", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      [SIGNATURE_HEADER]: sign(body, secret, timestamp),
    },
    body,
  });
}
