import type { Database, Statement } from "better-sqlite3";
import type { NewEvent, Source } from "../inbox.ts";

/** A new event, at its place in the file. */
export interface Arrived {
  readonly seq: number;
  readonly event: NewEvent;
  readonly source: Source;
  readonly trace: string | null;
  /** When it came, in ms since 1970. */
  readonly at: number;
}

/** The events of a lane that its row does not count yet. */
interface LaneArrivals {
  readonly events: number;
  /** When the first of them came, in ms since 1970. */
  readonly at: number;
}

/** Lanes that may wait to be written. More would hold up a claim for over 30 ms. */
const MAX_LANES = 5_000;

/**
 * Lanes that have events since their rows were last written. A claim writes each of them anyway, so they are written then,
 * once for all their events: with each batch, that would touch a page of the file for each event. The events are on the
 * disk, and a start looks which lanes have some.
 *
 * Each change is undone with its transaction.
 */
export class Arrivals {
  /** Lanes with events of earlier transactions, or with several. */
  readonly #lanes = new Map<string, LaneArrivals>();
  /** Lanes with one event, which came in this transaction. No other connection can have changed it. */
  readonly #fresh = new Map<string, Arrived>();
  /** The entries that this transaction has changed, as they were before. */
  readonly #before: [lane: string, arrivals: LaneArrivals | undefined][] = [];
  readonly #wake: Statement<[lane: string, events: number, at: number]>;

  constructor(db: Database) {
    // A lane that is leased or waits for a retry keeps its time: its order is worth more than its speed.
    this.#wake = db.prepare(
      `INSERT INTO lane (key, pending, ready_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE
         SET pending = pending + excluded.pending, ready_at = coalesce(ready_at, excluded.ready_at)`,
    );
  }

  /** True if there are lanes whose rows are not written yet. */
  get hasSome(): boolean {
    return this.#lanes.size > 0 || this.#fresh.size > 0;
  }

  add(arrived: Arrived): void {
    const { at, event } = arrived;
    const { lane } = event;
    const known = this.#lanes.get(lane);
    const other = this.#fresh.get(lane);
    if (known !== undefined) this.#set(lane, { ...known, events: known.events + 1 });
    else if (other !== undefined) {
      this.#fresh.delete(lane);
      this.#set(lane, { events: 2, at: other.at });
      // While all places are taken, no claim writes them, and what is put off would fill the memory.
    } else if (this.#lanes.size + this.#fresh.size >= MAX_LANES) this.#wake.run(lane, 1, at);
    else this.#fresh.set(lane, arrived);
  }

  /** The events that came in this transaction, each alone for its lane. */
  get alone(): Iterable<Arrived> {
    return this.#fresh.values();
  }

  /** Leaves the row of a lane of {@link alone} to the caller. */
  take(lane: string): void {
    this.#fresh.delete(lane);
  }

  /** Writes the row of a lane. */
  write(lane: string): void {
    const arrived = this.#fresh.get(lane);
    if (arrived !== undefined) {
      this.#fresh.delete(lane);
      this.#wake.run(lane, 1, arrived.at);
      return;
    }
    const arrivals = this.#lanes.get(lane);
    if (arrivals === undefined) return;
    this.#set(lane, undefined);
    this.#wake.run(lane, arrivals.events, arrivals.at);
  }

  /** Writes the rows of all lanes but those of {@link alone}. */
  writeEarlier(): void {
    for (const lane of [...this.#lanes.keys()]) this.write(lane);
  }

  writeAll(): void {
    this.writeEarlier();
    for (const lane of [...this.#fresh.keys()]) this.write(lane);
  }

  /** Called once the transaction is on the disk. */
  committed(): void {
    for (const [lane, { at }] of this.#fresh) this.#lanes.set(lane, { events: 1, at });
    this.#forget();
  }

  /** Called once the transaction is undone. */
  undone(): void {
    for (const [lane, arrivals] of this.#before.reverse()) this.#put(lane, arrivals);
    this.#forget();
  }

  #forget(): void {
    this.#fresh.clear();
    this.#before.length = 0;
  }

  #set(lane: string, arrivals: LaneArrivals | undefined): void {
    this.#before.push([lane, this.#lanes.get(lane)]);
    this.#put(lane, arrivals);
  }

  #put(lane: string, arrivals: LaneArrivals | undefined): void {
    if (arrivals === undefined) this.#lanes.delete(lane);
    else this.#lanes.set(lane, arrivals);
  }
}
