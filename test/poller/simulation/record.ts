import type { Mode } from "../../faces/poller.ts";
import type { LogEvent } from "./event-log.ts";
import type { MemoryInbox } from "./memory-inbox.ts";
import { SILENCE_MS } from "./schedule.ts";

export interface Span {
  readonly from: number;
  to: number;
}

export interface Life extends Span {
  readonly switches: { readonly at: number; readonly to: Mode; readonly reason: string }[];
}

/** Everything a checker needs to know about a run. Times are the simulation's. */
export class RunRecord {
  readonly events: LogEvent[] = [];
  readonly lives: Life[] = [];
  /** Spans without a usable API, each extended by the bot's longest pause. */
  readonly apiAway: Span[] = [];
  /** Times at which something got worse. Each may cause one switch to polling and one back. */
  readonly worse: { readonly at: number; readonly what: string }[] = [];
  readonly broughtAt: Map<string, number> = new Map();
  readonly typeBroughtAt: Map<string, number[]> = new Map();
  readonly requestsAt: number[] = [];
  /** When the platform counted a request, including the handlers' requests. */
  readonly countedAt: number[] = [];
  readonly unanswered: Set<string> = new Set();
  /** Events trimmed before the bot could read them, because the bot or the API was down. */
  readonly trimmedUnread: Set<string> = new Set();
  webhookOutages = 0;
  readonly inbox: MemoryInbox;
  readonly startSeq: () => number;
  /** Grouped by type, in order. Computed after the run. */
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

  /** Returns the last time before `then` at which an event of the type was overdue, or 0 if there was none. */
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
