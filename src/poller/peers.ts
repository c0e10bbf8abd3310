import { EVENT_LOG } from "../inbox/inbox.ts";
import type { Delivery } from "../inbox/shared.ts";
import { Election, type ElectionOptions, type Leadership, undisputed } from "./leadership.ts";
import { readSnapshot, type Snapshot, writeSnapshot } from "./snapshot.ts";

export type Brought = Delivery["events"];

/** A {@link Snapshot}, as another instance sees it. */
export interface Seen extends Snapshot {
  /** When it was made, on the reader's clock. */
  readonly at: number;
}

/** The other instances of a bot, to a poller. None of these fails: what cannot be told now is told later. */
export interface Peers {
  readonly leadership: Leadership;
  /** Leaves to the others what this poller knows. False when the term is over. */
  save(term: number | undefined, snapshot: Snapshot): Promise<boolean>;
  /** What the leader, or the one before this, has saved; undefined where there is nothing of use. */
  load(): Promise<Seen | undefined>;
  /** Calls `listener` when there may be something new to load. Returns what ends that. */
  onSaved(listener: () => void): () => void;
  /** This instance has stored a delivery. False where {@link heard} will not tell of it. */
  delivered(events: Brought): boolean;
  /** The deliveries of all instances since the last call, this one's included, the oldest first. */
  heard(): Promise<readonly Delivery[]>;
  /** Tells the others what is still to be told. */
  close(): Promise<void>;
}

/** Of a bot that is one process. */
export const nobody: Peers = {
  leadership: undisputed,
  save: () => Promise.resolve(true),
  load: () => Promise.resolve(undefined),
  onSaved: () => () => undefined,
  delivered: () => false,
  heard: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

/** Deliveries are told to the other instances this often at most, in milliseconds. */
const TELL_MS = 250;

/** The instances that share an inbox. */
export class SharedPeers implements Peers {
  readonly leadership: Leadership;
  readonly #options: ElectionOptions;
  #outbox: { readonly at: number; readonly events: Brought }[] = [];
  #telling: Promise<void> = Promise.resolve();
  #cancelTelling: (() => void) | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.leadership = new Election(options);
  }

  async save(term: number | undefined, snapshot: Snapshot): Promise<boolean> {
    const { shared, clock } = this.#options;
    if (term === undefined) return true;
    const text = writeSnapshot(snapshot, clock.now());
    const saved = shared.notes.write(EVENT_LOG, term, text);
    const { log } = this.#options;
    return await hint(saved, true, (err) =>
      log.debug({ err }, "the other instances cannot be told how the event log is read"),
    );
  }

  async load(): Promise<Seen | undefined> {
    const { shared, clock, log } = this.#options;
    const note = await hint(shared.notes.read(EVENT_LOG), undefined, (err) =>
      log.debug({ err }, "how the event log is read cannot be found out"),
    );
    if (note === undefined) return undefined;
    const at = clock.now() - note.msAgo;
    const snapshot = readSnapshot(note.text, at);
    return snapshot && { ...snapshot, at };
  }

  onSaved(listener: () => void): () => void {
    return this.#options.shared.onChange((topic) => {
      if (topic === undefined || topic === "note") listener();
    });
  }

  delivered(events: Brought): boolean {
    const { clock } = this.#options;
    this.#outbox.push({ at: clock.now(), events: events.map(({ id, type }) => ({ id, type })) });
    this.#cancelTelling ??= clock.timer(TELL_MS, () => void this.#tell(), { background: true });
    return true;
  }

  async heard(): Promise<readonly Delivery[]> {
    await this.#tell();
    const { shared, log } = this.#options;
    return await hint(shared.deliveries.read(), [], (err) =>
      log.debug({ err }, "the deliveries of the other instances cannot be read"),
    );
  }

  async close(): Promise<void> {
    await this.#tell();
  }

  #tell(): Promise<void> {
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    this.#telling = this.#telling.then(() => this.#tellNow());
    return this.#telling;
  }

  async #tellNow(): Promise<void> {
    const { shared, clock, log } = this.#options;
    const now = clock.now();
    const deliveries = this.#outbox.map(({ at, events }) => ({ msAgo: now - at, events }));
    this.#outbox = [];
    await hint(shared.deliveries.add(deliveries), undefined, (err) =>
      log.debug({ err }, "the other instances cannot be told of deliveries"),
    );
  }
}

/** What is missing only makes the others think for a while that the webhook is slow. */
async function hint<T>(
  work: Promise<T>,
  otherwise: T,
  failed: (error: unknown) => void,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    failed(error);
    return otherwise;
  }
}
