import type { Database, Statement } from "better-sqlite3";
import type { NewEvent, Source } from "../inbox.ts";

/** A new event and its row id. */
export interface NewArrival {
  readonly seq: number;
  readonly event: NewEvent;
  readonly source: Source;
  readonly trace: string | null;
  /** Time when the event arrived, in ms since 1970. */
  readonly at: number;
}

/** Events that their lane's row does not count yet. */
interface DirtyLane {
  readonly events: number;
  /** Time when the first of these events arrived, in ms since 1970. */
  readonly at: number;
}

/** Maximum number of lanes whose rows may be unwritten. Writing more lanes would delay a claim by over 30 ms. */
const MAX_LANES = 5_000;

/**
 * Lanes that have received events since their rows were last written. The next claim writes each row once for all new
 * events, because it writes the row anyway. Writing the rows with each batch would touch a page of the file per event.
 * The events themselves are on disk, so the lanes can be rebuilt on the next startup.
 *
 * A rollback undoes the changes.
 */
export class DirtyLanes {
  /** Lanes with events from earlier transactions, or with several events. */
  readonly #lanes = new Map<string, DirtyLane>();
  /** Lanes with exactly one event, stored in this transaction. No other connection can have changed it. */
  readonly #fresh = new Map<string, NewArrival>();
  /** Entries that this transaction has changed, with their previous values. */
  readonly #before: [lane: string, dirtyLane: DirtyLane | undefined][] = [];
  readonly #wake: Statement<[lane: string, events: number, at: number]>;

  constructor(db: Database) {
    // A lane that is leased or waits for a retry keeps its time, because order matters more than speed.
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

  add(arrived: NewArrival): void {
    const { at, event } = arrived;
    const { lane } = event;
    const known = this.#lanes.get(lane);
    const other = this.#fresh.get(lane);
    if (known !== undefined) this.#set(lane, { ...known, events: known.events + 1 });
    else if (other !== undefined) {
      this.#fresh.delete(lane);
      this.#set(lane, { events: 2, at: other.at });
      // While the dispatcher is full, no claim writes the rows, and unwritten rows would fill the memory.
    } else if (this.#lanes.size + this.#fresh.size >= MAX_LANES) this.#wake.run(lane, 1, at);
    else this.#fresh.set(lane, arrived);
  }

  /** Events in this transaction, if each is its lane's only new event. */
  get alone(): Iterable<NewArrival> {
    return this.#fresh.values();
  }

  /** Removes a lane from {@link alone}, because the caller writes its row. */
  take(lane: string): void {
    this.#fresh.delete(lane);
  }

  write(lane: string): void {
    const arrived = this.#fresh.get(lane);
    if (arrived !== undefined) {
      this.#fresh.delete(lane);
      this.#wake.run(lane, 1, arrived.at);
      return;
    }
    const dirtyLane = this.#lanes.get(lane);
    if (dirtyLane === undefined) return;
    this.#set(lane, undefined);
    this.#wake.run(lane, dirtyLane.events, dirtyLane.at);
  }

  /** Writes the rows of all lanes except the lanes in {@link alone}. */
  writeEarlier(): void {
    for (const lane of [...this.#lanes.keys()]) this.write(lane);
  }

  writeAll(): void {
    this.writeEarlier();
    for (const lane of [...this.#fresh.keys()]) this.write(lane);
  }

  /** Called once the transaction is on disk. */
  committed(): void {
    for (const [lane, { at }] of this.#fresh) this.#lanes.set(lane, { events: 1, at });
    this.#forget();
  }

  /** Called once the transaction is rolled back. */
  undone(): void {
    for (const [lane, dirtyLane] of this.#before.reverse()) this.#put(lane, dirtyLane);
    this.#forget();
  }

  #forget(): void {
    this.#fresh.clear();
    this.#before.length = 0;
  }

  #set(lane: string, dirtyLane: DirtyLane | undefined): void {
    this.#before.push([lane, this.#lanes.get(lane)]);
    this.#put(lane, dirtyLane);
  }

  #put(lane: string, dirtyLane: DirtyLane | undefined): void {
    if (dirtyLane === undefined) this.#lanes.delete(lane);
    else this.#lanes.set(lane, dirtyLane);
  }
}
