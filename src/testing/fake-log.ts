import { orderKey } from "../events/id.ts";
import { limitOf } from "./fake-answers.ts";

/** An event, as far as the platform learns from it who there is and what was said. */
export interface Happening {
  /** Larger than those before it. Without one it gets a new one. */
  readonly id?: string | undefined;
  readonly type: string;
  readonly payload: object;
  /** Without one it is the present. */
  readonly createdAt?: string | undefined;
}

/** An event of the log. */
export interface Happened {
  readonly id: string;
  readonly type: string;
  readonly payload: object;
  readonly createdAt: string;
}

/** The cursor of a log without events; other ids are larger. */
const START = "0";

/** The event log (section 4, `GET /events`). */
export class FakeLog {
  readonly #now: () => number;
  readonly #events = new Map<string, Happened>();
  #unnamed = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the event with all that was missing; undefined for one that has happened before */
  add({ id, type, payload, createdAt }: Happening): Happened | undefined {
    const event = {
      id: id ?? this.#newId(),
      type,
      payload,
      createdAt: createdAt ?? new Date(this.#now()).toISOString(),
    };
    if (this.#events.has(event.id)) return undefined;
    this.#events.set(event.id, event);
    return event;
  }

  /** Oldest first. An empty `since` asks for the present, none for the beginning. */
  page(query: URLSearchParams): { readonly events: readonly Happened[]; readonly cursor: string } {
    const limit = limitOf(query);
    const sorted = [...this.#events.values()].sort((a, b) => (isAfter(a.id, b.id) ? 1 : -1));
    const since = query.get("since");
    if (since === "") return { events: [], cursor: sorted.at(-1)?.id ?? START };
    const newer = since === null ? sorted : sorted.filter(({ id }) => isAfter(id, since));
    const events = newer.slice(0, limit);
    return { events, cursor: events.at(-1)?.id ?? since ?? START };
  }

  #newId(): string {
    this.#unnamed += 1;
    return `evt_${String(this.#unnamed).padStart(6, "0")}`;
  }
}

function isAfter(id: string, other: string): boolean {
  return orderKey(id) > orderKey(other);
}
