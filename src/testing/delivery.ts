import type { OptionTable } from "../core/option-checks.ts";
import type { EventType, PayloadByType } from "../events/types.ts";
import { SIGNATURE_HEADER, sign } from "../signature/signature.ts";

/** The signing secret of a bot under test. */
export const SECRET = "whsec_for_tests_only";

/** An event to deliver. Defaults: a new id, the present. The payload of a known type is checked by the compiler. */
export interface TestEvent<T extends string = string> {
  readonly id?: string;
  readonly type: T;
  readonly payload: TestPayload<T>;
  readonly createdAt?: string;
}

/** The payload of a known type, to which the platform may have added fields (section 9), or any object. */
type TestPayload<T extends string> = T extends EventType
  ? PayloadByType[T] | (PayloadByType[T] & Readonly<Record<string, unknown>>)
  : object;

/** Ways to forge a delivery. */
export interface DeliverOptions {
  /** Sign with this secret instead of the bot's own. */
  readonly secret?: string;
  /** Sign with this time instead of the present, in seconds since 1970. */
  readonly timestamp?: number;
}

export const DELIVER_OPTIONS: OptionTable<DeliverOptions> = { secret: true, timestamp: true };

/** The bot's answer to a delivery. */
export interface DeliveryAnswer {
  /** The HTTP status. */
  readonly status: number;
  readonly body: unknown;
}

/** Builds a signed delivery, as the platform sends it to the webhook (section 4). */
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
