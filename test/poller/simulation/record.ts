import type { Mode } from "../../faces/poller.ts";
import type { LogEvent } from "./event-log.ts";
import type { MemoryInbox } from "./memory-inbox.ts";
import { SILENCE_MS } from "./schedule.ts";

export interface Span {
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
}

/** One life of the bot, and what it switched to. */
export interface Life extends Span {
  readonly switches: { readonly at: number; readonly to: Mode; readonly reason: string }[];
}

/** Everything that a checker needs to know about a run. Times are the simulation's. */
export class RunRecord {
  readonly events: LogEvent[] = [];
  readonly lives: Life[] = [];
  /** When the API could not be used, with the longest pause that the bot may make after it. */
  readonly apiAway: Span[] = [];
  /** Changes for the worse: each may cost one switch to polling and the one back. */
  readonly worse: { readonly at: number; readonly what: string }[] = [];
  /** When the webhook brought an event first. */
  readonly broughtAt: Map<string, number> = new Map();
  /** When the webhook brought something of a type that was not in the inbox. */
  readonly typeBroughtAt: Map<string, number[]> = new Map();
  /** The reads of the log. */
  readonly requestsAt: number[] = [];
  /** When the platform counted a request, those of handlers included. */
  readonly countedAt: number[] = [];
  /** What handlers have not answered. */
  readonly unanswered: Set<string> = new Set();
  /** Trimmed before anybody could read it, for the bot or the API was away. */
  readonly trimmedUnread: Set<string> = new Set();
  webhookOutages = 0;
  readonly inbox: MemoryInbox;
  readonly startSeq: () => number;
  /** By type, in order; made when the run is over. */
  #overdueAt: Map<string, number[]> | undefined;
  readonly mayRead: (event: LogEvent) => boolean;

  constructor(inbox: MemoryInbox, startSeq: () => number, mayRead: (event: LogEvent) => boolean) {
    this.inbox = inbox;
    this.startSeq = startSeq;
    this.mayRead = mayRead;
  }

  brought(events: readonly LogEvent[], isNew: (id: string) => boolean, now: number): void {
    for (const { id, type } of events) {
      if (!this.broughtAt.has(id)) this.broughtAt.set(id, now);
      if (!isNew(id)) continue;
      const times = this.typeBroughtAt.get(type) ?? [];
      times.push(now);
      this.typeBroughtAt.set(type, times);
    }
  }

  /** When an event of the type was last overdue before then; 0 when none was. */
  missedBefore(type: string, then: number): number {
    this.#overdueAt ??= this.#findOverdue();
    return this.#overdueAt.get(type)?.findLast((at) => at < then) ?? 0;
  }

  #findOverdue(): Map<string, number[]> {
    const times = new Map<string, number[]>();
    for (const { id, type, madeAt } of this.events) {
      const at = madeAt + SILENCE_MS;
      if ((this.broughtAt.get(id) ?? Number.POSITIVE_INFINITY) <= at) continue;
      const known = times.get(type);
      if (known === undefined) times.set(type, [at]);
      else known.push(at);
    }
    return times;
  }

  get switches(): number {
    return this.lives.reduce((sum, life) => sum + life.switches.length, 0);
  }
}
