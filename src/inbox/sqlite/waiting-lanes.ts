import type { NewEvent, Source } from "../inbox.ts";
import { TransactionMap } from "./transaction-map.ts";

/** A new event in its row. */
export interface NewArrival {
  readonly seq: number;
  readonly event: NewEvent;
  readonly source: Source;
  readonly trace: string | null;
  /** Time when the event arrived, in ms since 1970. */
  readonly at: number;
}

/** A lane that waits in memory. */
export interface WaitingLane {
  readonly key: string;
  /** Time since when the lane waits, in ms since 1970. */
  readonly ready_at: number;
  /** The lane's only pending event. `undefined` if there may be others, or if memory is short. */
  readonly arrival: NewArrival | undefined;
}

/** Maximum total length of the events in memory, in characters. Other events are read back from the file. */
const MAX_CHARACTERS = 4_000_000;

/** Lanes that wait in memory, longest first. Lanes that have waited equally long are in key order. */
export class WaitingLanes {
  readonly #lanes = new TransactionMap<WaitingLane>();
  #characters = 0;

  get size(): number {
    return this.#lanes.size;
  }

  has(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  /**
   * Adds a lane that waits since a time, which must not be earlier than the previous one.
   *
   * @param arrival the lane's only pending event
   */
  add(lane: string, since: number, arrival?: NewArrival): void {
    const characters = arrival?.event.body.length ?? 0;
    const isKept = this.#characters + characters <= MAX_CHARACTERS;
    if (isKept) this.#characters += characters;
    this.#lanes.set(lane, { key: lane, ready_at: since, arrival: isKept ? arrival : undefined });
  }

  /** Notes that a lane has got another event, which may come before the one in memory. */
  addEvent(lane: string): void {
    const waiting = this.#lanes.get(lane);
    if (waiting?.arrival === undefined) return;
    this.#characters -= waiting.arrival.event.body.length;
    this.#lanes.set(lane, { ...waiting, arrival: undefined });
  }

  delete(lane: string): void {
    this.#characters -= this.#lanes.get(lane)?.arrival?.event.body.length ?? 0;
    this.#lanes.delete(lane);
  }

  clear(): void {
    this.#lanes.clear();
    this.#characters = 0;
  }

  /** Returns the lane that has waited longest. */
  first(): WaitingLane | undefined {
    const [first] = this.#lanes.values();
    return first;
  }

  /** Returns the lanes that have waited longest: `limit` of them, and those that have waited as long as the last one. */
  take(limit: number): WaitingLane[] {
    const lanes: WaitingLane[] = [];
    for (const lane of this.#lanes.values()) {
      if (lanes.length >= limit && lane.ready_at !== lanes.at(-1)?.ready_at) break;
      lanes.push(lane);
    }
    return lanes.sort(byTime);
  }

  committed(): void {
    this.#lanes.committed();
  }

  undone(): void {
    this.#lanes.undone();
    this.#characters = 0;
    for (const { arrival } of this.#lanes.values()) {
      this.#characters += arrival?.event.body.length ?? 0;
    }
  }
}

/** Orders lanes by the time since when they wait, and then by key. */
export function byTime(
  a: Pick<WaitingLane, "key" | "ready_at">,
  b: Pick<WaitingLane, "key" | "ready_at">,
): number {
  return a.ready_at - b.ready_at || (a.key < b.key ? -1 : 1);
}
