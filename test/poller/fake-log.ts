import { ApiError, type Client, type EventPage } from "../faces/client.ts";
import { orderKey } from "../faces/events.ts";
import type { ManualClock } from "../faces/testing.ts";

interface Entry {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly payload: object;
}

/** The platform's event log, with the rules for `GET /events` (section 4 of the platform document). */
export class FakeLog {
  readonly #clock: ManualClock;
  readonly requests: (string | undefined)[] = [];
  entries: Entry[] = [];
  readonly #keys = new Map<string, string>();
  emptyCursor = "0";
  /** The platform rejects cursors below this id, as if the log had been trimmed up to it. */
  refusesBelow = "";
  /** Errors for the next requests, one each. */
  failures: unknown[] = [];

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  /** An id below the last one simulates a late commit. */
  add(id: string, type = "dm.message", at: number = this.#clock.now()): void {
    const from = { userId: "u", username: "ada", name: "Ada" };
    const actor = { username: "ada", name: "Ada" };
    const payload =
      type === "dm.message"
        ? { conversationId: "c1", from, excerpt: "hi" }
        : { actor, entityType: "post", entityId: "p1" };
    const place = this.entries.findLastIndex((entry) => this.#keyOf(entry.id) < this.#keyOf(id));
    this.entries.splice(place + 1, 0, { id, type, createdAt: new Date(at).toISOString(), payload });
  }

  #keyOf(id: string): string {
    const key = this.#keys.get(id) ?? orderKey(id);
    this.#keys.set(id, key);
    return key;
  }

  readonly events = async ({
    since,
    limit = 50,
  }: Parameters<Client["events"]>[0] = {}): Promise<EventPage> => {
    this.requests.push(since);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    if (since !== undefined && Number(since) < Number(this.refusesBelow)) {
      throw new ApiError("since is not in the log", { status: 400, platformCode: "VALIDATION" });
    }
    const date = this.#clock.now();
    if (since === "") {
      return { events: [], cursor: this.entries.at(-1)?.id ?? this.emptyCursor, date };
    }
    const after = since === undefined ? "" : orderKey(since);
    const events = this.entries.filter(({ id }) => this.#keyOf(id) > after).slice(0, limit);
    return { events, cursor: events.at(-1)?.id ?? since ?? "", date };
  };
}
