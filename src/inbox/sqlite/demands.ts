import type { ClaimRooms } from "../inbox.ts";
import type { PlacedClaim } from "./lanes.ts";

/** Free slots that one caller offers in a transaction. */
export class Demand {
  /** Claims that have taken the slots. Complete at the end of the transaction. */
  readonly claims: PlacedClaim[] = [];
  /** Number of slots that are still free. */
  left: number;
  /** End of the new leases, in ms since 1970. */
  readonly until: number;
  /** The only type that fits. `undefined` if every type fits. */
  readonly type: string | undefined;
  readonly #rooms: Map<string, number> | undefined;
  readonly #others: number;

  constructor(left: number, until: number, type?: string, rooms?: ClaimRooms) {
    this.left = left;
    this.until = until;
    this.type = type;
    this.#rooms = rooms && new Map(rooms.byType);
    this.#others = rooms?.others ?? Number.POSITIVE_INFINITY;
  }

  /** Types that have a capacity of their own. */
  get limitedTypes(): readonly string[] {
    return [...(this.#rooms?.keys() ?? [])];
  }

  fits(type: string): boolean {
    return this.left > 0 && (this.type ?? type) === type && this.#roomFor(type) > 0;
  }

  takeSlot(type: string): void {
    this.left -= 1;
    this.#rooms?.set(type, this.#roomFor(type) - 1);
  }

  #roomFor(type: string): number {
    return this.#rooms?.get(type) ?? this.#others;
  }
}

/** Returns the types for which no demand has capacity. Empty if all demands are for a single type. */
export function fullTypes(demands: readonly Demand[]): readonly string[] {
  const types = demands.find(({ type }) => type === undefined)?.limitedTypes ?? [];
  return types.filter((type) => !demands.some((demand) => demand.fits(type)));
}
