import type { HandlerOptions } from "../core/option-checks.ts";
import type { ClaimRooms } from "../inbox/inbox.ts";

/** The event types that a bot handles. */
export interface HandledTypes {
  /** Types that have a handler. */
  readonly handledTypes: readonly string[];
  /** True if types without a handler of their own are handled, too. */
  readonly handlesOtherTypes: boolean;
  /** Options of the handlers of a type. */
  optionsFor(type: string): HandlerOptions;
}

const alike: HandledTypes = {
  handledTypes: [],
  handlesOtherTypes: false,
  optionsFor: () => ({}),
};

/** The part of the places that stays free for other types. */
const RESERVED_SHARE = 1 / 4;

/** Bounds how many events of one type are handled at once, so that one slow type leaves places to others. */
export class TypeLimits {
  readonly #concurrency: number;
  readonly #types: HandledTypes;
  readonly #taken = new Map<string, number>();

  /** @param concurrency the places of all types together, 1 or more */
  constructor(concurrency: number, types: HandledTypes = alike) {
    this.#concurrency = concurrency;
    this.#types = types;
  }

  /**
   * The rooms of a claim for `free` lanes while events of the `running` types are at work; `undefined` if every type
   * has room for all of them.
   */
  roomsFor(running: readonly string[], free: number): ClaimRooms | undefined {
    const counts = new Map<string, number>(this.#limitedTypes().map((type) => [type, 0]));
    for (const type of running) counts.set(type, (counts.get(type) ?? 0) + 1);
    const byType = new Map([...counts].map(([type, n]) => [type, this.limitOf(type) - n]));
    const others = this.#usualLimit();
    return Math.min(others, ...byType.values()) < free ? { byType, others } : undefined;
  }

  /** How many events of a type are handled at once, at the most. */
  limitOf(type: string): number {
    const own = this.#types.optionsFor(type).concurrency;
    return own === undefined ? this.#usualLimit() : Math.min(own, this.#concurrency);
  }

  /** Takes a place for an event; false if its type has none free. */
  enter(type: string): boolean {
    const taken = this.#taken.get(type) ?? 0;
    if (taken >= this.limitOf(type)) return false;
    this.#taken.set(type, taken + 1);
    return true;
  }

  /** Frees the place of an event. */
  leave(type: string): void {
    const left = (this.#taken.get(type) ?? 0) - 1;
    if (left > 0) this.#taken.set(type, left);
    else this.#taken.delete(type);
  }

  /** True when events of the type may be waiting for one that ends. */
  isFull(type: string): boolean {
    return (this.#taken.get(type) ?? 0) >= this.limitOf(type);
  }

  #limitedTypes(): readonly string[] {
    const { handledTypes } = this.#types;
    return handledTypes.filter((type) => this.#types.optionsFor(type).concurrency !== undefined);
  }

  /** A bot with one type has nothing to keep places for. */
  #usualLimit(): number {
    const { handledTypes, handlesOtherTypes } = this.#types;
    const hasOneType = handledTypes.length < 2 && !handlesOtherTypes;
    if (hasOneType || this.#concurrency === 1) return this.#concurrency;
    return this.#concurrency - Math.max(1, Math.floor(this.#concurrency * RESERVED_SHARE));
  }
}

/** True when lanes whose first event is of some type are passed over. */
export function passesOver({ byType }: ClaimRooms): boolean {
  return [...byType.values()].some((room) => room <= 0);
}
