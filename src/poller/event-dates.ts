import type { EventPage } from "../client/types.ts";
import { idText } from "../events/id.ts";
import { textOf } from "../events/parse.ts";

/** An event of a page: its id, and when it was made, in ms since 1970 on the platform's clock. */
export type Dated = readonly [id: string, at: number];

/**
 * When events were made. A date that cannot be read, or that lies ahead, says nothing, and neither does any date
 * while the platform does not tell its time: such an event was made when it was first seen, at the latest. It must
 * not be taken for new at each reading, or the cursor would never get past it.
 */
export class EventDates {
  /** Since when those without a good date have been seen. */
  #seenAt = new Map<string, number>();
  #seenNow = new Map<string, number>();

  /** The events of a page, in its order. */
  of({ events, date }: EventPage, now: number): Dated[] {
    return events.map((raw): Dated => {
      const { id, createdAt }: { id?: unknown; createdAt?: unknown } = Object(raw);
      const at = date === undefined ? Number.NaN : Date.parse(String(createdAt));
      return [String(id), at <= now ? at : this.#firstSeen(keyOf(raw, id), now)];
    });
  }

  /** A reading from the cursor is over: what it did not meet is behind the cursor, and need not be remembered. */
  forgetPassed(): void {
    this.#seenAt = this.#seenNow;
    this.#seenNow = new Map();
  }

  #firstSeen(key: string, now: number): number {
    const at = this.#seenAt.get(key) ?? this.#seenNow.get(key) ?? now;
    this.#seenNow.set(key, at);
    return at;
  }
}

/** The id; without one the whole event, for two of these are not one. */
function keyOf(raw: unknown, id: unknown): string {
  return idText(id) ?? textOf(raw) ?? "";
}
