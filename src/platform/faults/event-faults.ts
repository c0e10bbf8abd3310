import type { Clock, Random } from "../../core/clock.ts";
import { invalid } from "../error.ts";
import type { LoggedEvent, NewEvent } from "../store/event-log.ts";
import { eventId } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, reach } from "./active-fault.ts";

export const eventFaultModes = ["none", "late", "own", "sparse"] as const;

/** Fault of events that are written to the log. */
export interface EventFault {
  /**
   * `late`: an event has its id at once, and is in the log `lateMs` later, below newer ones; `own`: a bot gets events of
   * what it writes itself; `sparse`: an event lacks `excerpt`, `postId`, `commentId` or all three, in turns.
   */
  readonly mode: (typeof eventFaultModes)[number];
  /** Milliseconds on the platform's clock, 1 to 86,400,000. */
  readonly lateMs: number;
  /** The share of the events that is touched, chosen at random: above 0, up to 1. Absent: all. */
  readonly rate?: number | undefined;
  /** Events that the fault still applies to. Absent: all, until it is changed. */
  readonly times?: number | undefined;
}

/** A fault to set. `late` needs `lateMs`. */
export type EventFaultInput = Pick<EventFault, "mode" | "rate" | "times"> & {
  readonly lateMs?: number | undefined;
};

/** The fault of the event log, and what it does at present. */
export interface EventFaultState extends EventFault {
  /** How many events are still to come. */
  readonly held: number;
}

export interface EventFaultsOptions {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with the number of a bot when events have come into its log. */
  readonly onEvents: (bot: number) => void;
}

const NONE: EventFault = { mode: "none", lateMs: 0 };

/** The optional fields of section 6 that a sparse event lacks, by turns. */
const MISSING_FIELDS: readonly (readonly string[])[] = [
  ["excerpt"],
  ["postId"],
  ["commentId"],
  ["excerpt", "postId", "commentId"],
];

/**
 * Lets events be committed late, as two transactions do of which the one with the lower number ends last.
 * Until its time such an event is in no page, no delivery and no position; then it is as if it had just
 * happened. Which ones are late is in the state file.
 */
export class EventFaults {
  readonly #options: EventFaultsOptions;
  readonly #active: ActiveFault<EventFault>;
  #cancel: () => void = () => {};
  /** Sparse events since the fault was set. */
  #sparseEvents = 0;

  constructor(options: EventFaultsOptions) {
    this.#options = options;
    const { timeline, random } = options;
    this.#active = new ActiveFault({
      ...{ none: NONE, target: "events", timeline, random, describe },
      afterwards: "no further events are touched",
    });
  }

  get state(): EventFaultState {
    return { ...this.#active.current, held: this.#options.store.lateEvents.count() };
  }

  /**
   * Replaces the fault. Events that are late by now come at their time.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  set({ lateMs = NONE.lateMs, ...fault }: EventFaultInput): void {
    if (fault.mode === "late" && lateMs === 0) {
      throw invalid("events.lateMs: with mode late, say how late events are, in milliseconds");
    }
    this.#sparseEvents = 0;
    this.#active.set({ ...fault, lateMs });
  }

  /** Ends the fault, if there is one. */
  end(): void {
    this.#active.end();
  }

  /**
   * Holds an event that was just appended, in the same transaction, where it is to be late. Call `wake` after
   * the transaction.
   *
   * @returns how late it is, in milliseconds; 0 when it is in the log
   */
  hold(logged: LoggedEvent): number {
    const { store, clock } = this.#options;
    const { lateMs } = this.#active.current;
    if (!this.#takes("late")) return 0;
    store.lateEvents.hold(logged, clock.now() + lateMs);
    return lateMs;
  }

  /** Decides whether a bot gets the event of something that it did itself. */
  reportsOwn(): boolean {
    return this.#takes("own");
  }

  /** Leaves optional fields out of the payload where the event is to be sparse. Messages have none. */
  thin(event: NewEvent): NewEvent {
    if (event.type === "dm.message" || !this.#takes("sparse")) return event;
    const missing = MISSING_FIELDS[this.#sparseEvents % MISSING_FIELDS.length] ?? [];
    this.#sparseEvents += 1;
    const fields = Object.entries(event.payload).filter(([name]) => !missing.includes(name));
    return { type: event.type, payload: Object.fromEntries(fields) };
  }

  /** Lets the events come whose time it is, and returns when the next one is due. */
  wake(): void {
    this.stop();
    const { store, clock, onEvents } = this.#options;
    const due = store.lateEvents.due(clock.now());
    const bots = due.length === 0 ? [] : store.transaction(() => this.#release(due));
    for (const seq of due) this.#active.note("released", `${eventId(seq)} is in the log now`);
    const next = store.lateEvents.nextDue();
    if (next !== undefined) {
      const wait = next - clock.now();
      this.#cancel = clock.timer(wait, () => this.wake(), { background: true });
    }
    for (const bot of bots) onEvents(bot);
  }

  stop(): void {
    this.#cancel();
  }

  /** Uses up one time of the fault where it has this mode. */
  #takes(mode: EventFault["mode"]): boolean {
    return this.#active.current.mode === mode && this.#active.take().mode === mode;
  }

  /**
   * For the webhook, too, they happen now: its configuration of this moment counts. Returns the bots in
   * whose logs they are.
   */
  #release(due: readonly number[]): Iterable<number> {
    const { events, lateEvents, webhook } = this.#options.store;
    const bots = new Set<number>();
    for (const seq of due) {
      lateEvents.release(seq);
      const logged = events.find(seq);
      if (logged === undefined) continue;
      webhook.enqueue(logged);
      bots.add(logged.recipient);
    }
    return bots;
  }
}

function describe(fault: EventFault): string {
  const { mode, lateMs } = fault;
  const what = mode === "late" ? `late by ${lateMs} ms` : mode;
  return `${what} for ${reach(fault, mode === "own" ? "own events" : "events")}`;
}
