import type { CursorMove, Inbox, NewEvent, PutResult, Source } from "../../faces/inbox.ts";

/** When an event came in, and through which door. */
export interface Stored {
  readonly at: number;
  readonly source: Source;
}

/** As much of an inbox as the poller needs. It outlives the bots that are started on it. */
export class MemoryInbox implements Pick<Inbox, "put" | "cursor"> {
  readonly events: Map<string, Stored> = new Map();
  readonly #cursors = new Map<string, string>();
  readonly #types = new Set<string>();
  readonly #now: () => number;
  readonly #onStored: (id: string) => void;
  /** What the very first cursor was; undefined until there is one. */
  firstCursor: string | undefined;

  /** @param onStored called for each event that is new */
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

  /** The types that came by webhook, as a bot learns them at its start. */
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
