import type { Clock } from "../core/clock.ts";
import type { ErrorCode } from "../errors.ts";

/** A delivery that got a response other than 2xx. */
export interface RefusedDelivery {
  /** Time of the response, in ms since 1970. */
  readonly at: number;
  /** HTTP status of the response. */
  readonly status: number;
  /** Error code of the response. */
  readonly code: ErrorCode | undefined;
}

/** The last deliveries, for the status. Deliveries of the author's own services do not count as stored. */
export class DeliveryHistory {
  readonly #clock: Pick<Clock, "now">;
  #lastDeliveryAt: number | undefined;
  #secret: string | undefined;
  #refused = 0;
  #lastRefusal: RefusedDelivery | undefined;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Time when the platform's last batch was stored, in ms since 1970. Duplicates and empty batches count too. */
  get lastDeliveryAt(): number | undefined {
    return this.#lastDeliveryAt;
  }

  /** The secret that signed that batch. */
  get secret(): string | undefined {
    return this.#secret;
  }

  /** Number of deliveries refused since the last stored delivery. */
  get refused(): number {
    return this.#refused;
  }

  /** The last delivery refused since the last stored delivery. */
  get lastRefusal(): RefusedDelivery | undefined {
    return this.#lastRefusal;
  }

  /** @param secret the secret that signed the delivery */
  noteStored(secret: string | undefined): void {
    this.#lastDeliveryAt = this.#clock.now();
    this.#secret = secret;
    this.#refused = 0;
    this.#lastRefusal = undefined;
  }

  noteRefused(status: number, code: ErrorCode | undefined): void {
    this.#refused += 1;
    this.#lastRefusal = { at: this.#clock.now(), status, code };
  }
}
