import type { Clock } from "../core/clock.ts";
import type { Hold } from "./places.ts";

/** Whose request it is, the most important first: a handler's write or read, the audit's, the polling's. */
const kinds = ["write", "read", "audit", "poll"] as const;

export type RequestKind = (typeof kinds)[number];

/** The audit and the polling go first after this, in milliseconds: a busy bot must read the log too. */
const STARVED_MS = 60_000;

/** A request that waits for its place. */
export interface Waiter {
  readonly kind: RequestKind;
  /** When it began to wait. */
  readonly since: number;
  readonly grant: (hold: Hold) => void;
}

/** The requests that wait: the most important first, and of one kind the one that came first. */
export class WaitingRoom {
  readonly #clock: Clock;
  readonly #queues: Readonly<Record<RequestKind, Waiter[]>> = {
    write: [],
    read: [],
    audit: [],
    poll: [],
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.upTo("poll");
  }

  /** How many wait that are as important as this kind, or more. */
  upTo(kind: RequestKind): number {
    const served = kinds.slice(0, kinds.indexOf(kind) + 1);
    return served.reduce((sum, at) => sum + this.#queues[at].length, 0);
  }

  add(waiter: Waiter): void {
    this.#queues[waiter.kind].push(waiter);
  }

  /** Whether it was still there. */
  remove(waiter: Waiter): boolean {
    const queue = this.#queues[waiter.kind];
    const at = queue.indexOf(waiter);
    if (at >= 0) queue.splice(at, 1);
    return at >= 0;
  }

  /** Who goes first by importance. */
  first(): Waiter | undefined {
    for (const kind of kinds) {
      if (this.#queues[kind].length > 0) return this.#queues[kind][0];
    }
    return undefined;
  }

  /** Who has waited for so long that it goes before everybody else. */
  starved(): Waiter | undefined {
    return this.#patient().find((waiter) => this.#patienceMs(waiter) <= 0);
  }

  /** When the next one will have waited for so long, in milliseconds; 0 or less when one has. */
  starvesInMs(): number {
    return Math.min(...this.#patient().map((waiter) => this.#patienceMs(waiter)));
  }

  /** Those of the log, which nobody tells to come back later. */
  #patient(): Waiter[] {
    return [this.#queues.audit[0], this.#queues.poll[0]].filter((waiter) => waiter !== undefined);
  }

  #patienceMs({ since }: Waiter): number {
    return since + STARVED_MS - this.#clock.now();
  }
}
