import { minOf } from "../core/extremes.ts";
import type { HandlerOptions } from "../core/handler-options.ts";
import type { ClaimRooms } from "../inbox/inbox.ts";

export interface HandledTypes {
  /** Types with a handler of their own. */
  readonly handledTypes: readonly string[];
  /** True if a handler exists for all other types. */
  readonly handlesOtherTypes: boolean;
  optionsFor(type: string): HandlerOptions;
}

/** Share of the slots that stays free for other types. */
const RESERVED_SHARE = 1 / 4;

/** Number of types to remember, because each claim computes the capacity of each. */
const MAX_IDLE_TYPES = 100;

/** Limits how many events of one type are handled at once, so that a slow type leaves slots to other types. */
export class TypeLimits {
  readonly #concurrency: number;
  readonly #types: HandledTypes;
  readonly #taken = new Map<string, number>();

  /** @param concurrency number of slots for all types together, 1 or more */
  constructor(concurrency: number, types: HandledTypes) {
    this.#concurrency = concurrency;
    this.#types = types;
  }

  /**
   * Returns each type's capacity for a claim of `free` lanes. `undefined` if every type has capacity for all of them.
   */
  roomsFor(free: number): ClaimRooms | undefined {
    const types = new Set([...this.#limitedTypes(), ...this.#taken.keys()]);
    const byType = new Map(
      [...types].map((type) => [type, this.limitOf(type) - this.#takenOf(type)]),
    );
    const others = this.#usualLimit();
    return Math.min(others, minOf(byType.values())) < free ? { byType, others } : undefined;
  }

  /** Returns how many events of a type may be handled at once. */
  limitOf(type: string): number {
    const own = this.#types.optionsFor(type).concurrency;
    return own === undefined ? this.#usualLimit() : Math.min(own, this.#concurrency);
  }

  /** Takes a slot for an event. Returns false if its type has no free slot. */
  enter(type: string): boolean {
    if (this.isFull(type)) return false;
    this.#taken.set(type, this.#takenOf(type) + 1);
    return true;
  }

  leave(type: string): void {
    this.#taken.set(type, this.#takenOf(type) - 1);
    if (this.#taken.size > MAX_IDLE_TYPES) this.#forgetIdleTypes();
  }

  /** Returns whether a new event of the type would have to wait. */
  isFull(type: string): boolean {
    return this.#takenOf(type) >= this.limitOf(type);
  }

  /** A type without events has the same capacity whether it is in the map or not. */
  #forgetIdleTypes(): void {
    for (const [type, taken] of this.#taken) if (taken === 0) this.#taken.delete(type);
  }

  #takenOf(type: string): number {
    return this.#taken.get(type) ?? 0;
  }

  #limitedTypes(): readonly string[] {
    const { handledTypes } = this.#types;
    return handledTypes.filter((type) => this.#types.optionsFor(type).concurrency !== undefined);
  }

  /** A bot with only one type reserves no slots for other types. */
  #usualLimit(): number {
    const { handledTypes, handlesOtherTypes } = this.#types;
    const hasOneType = handledTypes.length < 2 && !handlesOtherTypes;
    if (hasOneType || this.#concurrency === 1) return this.#concurrency;
    return this.#concurrency - Math.max(1, Math.floor(this.#concurrency * RESERVED_SHARE));
  }
}

/** Returns whether a claim skips lanes because their first event's type is full. */
export function passesOver({ byType }: ClaimRooms): boolean {
  return [...byType.values()].some((room) => room <= 0);
}
