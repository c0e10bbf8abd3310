import { TransactionMap } from "./transaction-map.ts";

/** A lane that waits in memory, and since when, in ms since 1970. */
export interface WaitingLane {
  readonly key: string;
  readonly ready_at: number;
}

/** Lanes that wait in memory, longest first. Lanes that have waited equally long are in key order. */
export class WaitingLanes {
  readonly #since = new TransactionMap<number>();
  /**
   * The lanes that have waited longest, last one first, because each is taken from the end. Some may no longer wait.
   * Empty if unknown.
   */
  #oldest: WaitingLane[] = [];

  get size(): number {
    return this.#since.size;
  }

  has(lane: string): boolean {
    return this.#since.has(lane);
  }

  /** Adds a lane that waits since a time, which must not be earlier than the previous one. */
  add(lane: string, since: number): void {
    this.#since.set(lane, since);
    if (since === this.#oldest[0]?.ready_at) this.#oldest = [];
  }

  delete(lane: string): void {
    this.#since.delete(lane);
  }

  clear(): void {
    this.#since.clear();
    this.#oldest = [];
  }

  /** Returns the lane that has waited longest. */
  first(): WaitingLane | undefined {
    if (this.#since.size === 0) return undefined;
    for (;;) {
      if (this.#oldest.length === 0) this.#oldest = this.take(1).reverse();
      const lane = this.#oldest.at(-1);
      if (lane === undefined || this.#since.get(lane.key) === lane.ready_at) return lane;
      this.#oldest.pop();
    }
  }

  /** Returns the lanes that have waited longest: `limit` of them, and those that have waited as long as the last one. */
  take(limit: number): WaitingLane[] {
    const lanes: WaitingLane[] = [];
    for (const [key, since] of this.#since) {
      if (lanes.length >= limit && since !== lanes.at(-1)?.ready_at) break;
      lanes.push({ key, ready_at: since });
    }
    return lanes.sort((a, b) => a.ready_at - b.ready_at || (a.key < b.key ? -1 : 1));
  }

  committed(): void {
    this.#since.committed();
  }

  undone(): void {
    this.#since.undone();
    this.#oldest = [];
  }
}
