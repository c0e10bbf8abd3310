import type { CursorMove, Inbox, NewEvent, PutResult, Source } from "../../faces/inbox.ts";

export interface Stored {
  readonly at: number;
  readonly source: Source;
}

/** The part of an inbox that the poller needs. It outlives the bots. */
export class MemoryInbox implements Pick<Inbox, "put" | "cursor"> {
  readonly events: Map<string, Stored> = new Map();
  readonly #cursors = new Map<string, string>();
  readonly #types = new Set<string>();
  readonly #now: () => number;
  readonly #onStored: (id: string) => void;
  /** The first cursor, or `undefined` until a cursor is stored. */
  firstCursor: string | undefined;

  /** @param onStored called for each new event */
  constructor(now: () => number, onStored: (id: string) => void = () => undefined) {
    this.#now = now;
    this.#onStored = onStored;
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
  ): Promise<PutResult> {
    const fresh = events.filter(({ id }) => this.#add(id, source));
    if (source === "webhook") for (const { type } of fresh) this.#types.add(type);
    for (const { name, position } of cursors) {
      this.firstCursor ??= position;
      this.#cursors.set(name, position);
    }
    const stored = fresh.map(({ id }) => id);
    const unusable = fresh.filter((event) => event.unusable !== undefined).length;
    return { stored, duplicates: events.length - stored.length, unusable };
  }

  async cursor(name: string): Promise<string | undefined> {
    return this.#cursors.get(name);
  }

  /** Returns the types received by webhook, which a bot reads on startup. */
  typesByWebhook(): ReadonlySet<string> {
    return new Set(this.#types);
  }

  #add(id: string, source: Source): boolean {
    if (this.events.has(id)) return false;
    this.events.set(id, { at: this.#now(), source });
    this.#onStored(id);
    return true;
  }
}
