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
  #lanes = new Map<string, { events: number; readonly at: number }>();

  get lanes(): number {
    return this.#lanes.size;
  }

  /**
   * @param lanes one for each event
   * @param at when they came
   */
  add(lanes: readonly string[], at: number): void {
    for (const lane of lanes) this.#add(lane, 1, at);
  }

  /** Whoever takes them writes them, or gives them back. */
  take(): ArrivalsByLane {
    const taken = this.#lanes;
    if (taken.size > 0) this.#lanes = new Map();
    return taken;
  }

  giveBack(arrivals: ArrivalsByLane): void {
    const later = this.#lanes;
    this.#lanes = new Map();
    for (const [lane, { events, at }] of [...arrivals, ...later]) this.#add(lane, events, at);
  }

  /** The first time that is told of a lane stays. */
  #add(lane: string, events: number, at: number): void {
    const arrival = this.#lanes.get(lane);
    if (arrival === undefined) this.#lanes.set(lane, { events, at });
    else arrival.events += events;
  }
}
