import type { EventPage } from "../client/resources.ts";
import { idText } from "../events/id.ts";
import { textOf } from "../events/parse.ts";

/** An event's id and creation time, in ms since 1970 on the platform's clock. */
export type Dated = readonly [id: string, at: number];

/**
 * Determines when events were created. If an event's date is unreadable or in the future, or the platform's time is
 * unknown, the event counts as created when it was first seen. Otherwise it would look new on each read, and the cursor
 * would never pass it.
 */
export class EventDates {
  /** Time when each event without a usable date was first seen. */
  #seenAt = new Map<string, number>();
  #seenNow = new Map<string, number>();

  /** Returns the creation times of a page's events, in order. */
  of({ events, date }: EventPage, now: number): Dated[] {
    return events.map((raw): Dated => {
      const { id, createdAt }: { id?: unknown; createdAt?: unknown } = Object(raw);
      const at = date === undefined ? Number.NaN : Date.parse(String(createdAt));
      return [String(id), at <= now ? at : this.#firstSeen(keyOf(raw, id), now)];
    });
  }

  /** Forgets events that the last read from the cursor did not return, because the cursor has passed them. */
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

function keyOf(raw: unknown, id: unknown): string {
  return idText(id) ?? textOf(raw) ?? "";
}
