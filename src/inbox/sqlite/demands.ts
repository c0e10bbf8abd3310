import type { ClaimRooms } from "../inbox.ts";
import type { PlacedClaim } from "./lane-memory.ts";

/** Free slots that one caller offers. */
export class Demand {
  /** Number of slots that are still free. */
  left: number;
  /** End of the new leases, in ms since 1970. */
  readonly until: number;
  /** The only type that fits. `undefined` if every type fits. */
  readonly type: string | undefined;
  readonly rooms: RoomsLeft | undefined;
  /** Claims that have taken the slots. Complete once the transaction's new events are stored. */
  readonly claims: PlacedClaim[] = [];

  constructor(
    left: number,
    until: number,
    { type, rooms }: Partial<Pick<Demand, "type" | "rooms">>,
  ) {
    this.left = left;
    this.until = until;
    this.type = type;
    this.rooms = rooms;
  }
}

/** Demands of one transaction. Waiting lanes fill their slots first, and new events fill the rest. */
export class Demands {
  readonly #list: Demand[] = [];

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  /** Number of free slots. */
  get left(): number {
    let sum = 0;
    for (const { left } of this.#list) sum += left;
    return sum;
  }

  /** Types for which no demand has capacity. Empty if all demands are for a single type. */
  get fullTypes(): readonly string[] {
    const full = this.#list.find(({ type }) => type === undefined)?.rooms?.full ?? [];
    return full.filter((type) => this.#list.every((demand) => !fits(demand, type)));
  }

  add(demand: Demand): Demand {
    this.#list.push(demand);
    return demand;
  }

  /**
   * Returns the first demand with a free slot for an event. A suspect fits only the demands for all types, because
   * these decide whether it may run.
   */
  find(type: string, isSuspect = false): Demand | undefined {
    return this.#list.find((demand) => {
      return demand.left > 0 && fits(demand, type) && !(isSuspect && demand.type !== undefined);
    });
  }

  clear(): void {
    this.#list.length = 0;
  }
}

export function takeSlot(demand: Demand, type: string): void {
  demand.left -= 1;
  demand.rooms?.take(type);
}

function fits({ type: only, rooms }: Demand, type: string): boolean {
  return (only === undefined || only === type) && rooms?.has(type) !== false;
}

/** How many events of each type a claim may still take. */
export class RoomsLeft {
  readonly #byType: Map<string, number>;
  readonly #others: number;

  constructor({ byType, others }: ClaimRooms) {
    this.#byType = new Map(byType);
    this.#others = others;
  }

  /** Types without capacity. */
  get full(): string[] {
    return [...this.#byType].flatMap(([type, room]) => (room <= 0 ? [type] : []));
  }

  has(type: string): boolean {
    return this.#of(type) > 0;
  }

  take(type: string): void {
    this.#byType.set(type, this.#of(type) - 1);
  }

  #of(type: string): number {
    return this.#byType.get(type) ?? this.#others;
  }
}
