/** What has come for one lane. */
export interface Arrival {
  readonly events: number;
  /** When the first of them came, in milliseconds since 1970. */
  readonly at: number;
}

/** By the key of the lane. */
export type ArrivalsByLane = ReadonlyMap<string, Arrival>;

/**
 * Lanes that have events since they were last written. A claim writes each of them anyhow: so they are written then,
 * once for whatever has come meanwhile, and not with each batch, which would touch a page of the file for each event.
 * The events themselves are on the disk; a process that is killed leaves it to the next one to look which lanes have some.
 */
export class Arrivals {
  #lanes = new Map<string, Arrival>();

  get lanes(): number {
    return this.#lanes.size;
  }

  add(arrivals: ArrivalsByLane): void {
    for (const [lane, { events, at }] of arrivals) {
      const before = this.#lanes.get(lane);
      this.#lanes.set(lane, {
        events: events + (before?.events ?? 0),
        at: Math.min(at, before?.at ?? at),
      });
    }
  }

  /** Whoever takes them writes them, or gives them back. */
  take(): ArrivalsByLane {
    const taken = this.#lanes;
    if (taken.size > 0) this.#lanes = new Map();
    return taken;
  }
}
