import * as z from "zod";
import type { Clock, Random } from "../../core/clock.ts";
import { optionalFields } from "../../events/payload.ts";
import { invalid } from "../error.ts";
import type { LoggedEvent, NewEvent } from "../store/event-log.ts";
import { eventId } from "../store/ids.ts";
import type { Store } from "../store/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, affected, reach, span } from "./active-fault.ts";

const eventFaultModes = ["none", "late", "own", "sparse"] as const;

/** Fault that affects events as they enter the log. */
export interface EventFault {
  /**
   * Effect of the fault. `late` gives an event its id immediately, but the event enters the log `lateMs` later, below
   * newer events. `own` sends a bot events about its own actions. `sparse` drops
   * `excerpt`, `postId`, another optional field or all of them, in rotation.
   */
  readonly mode: (typeof eventFaultModes)[number];
  /** Delay in ms on the platform's clock, 1 to 86,400,000. */
  readonly lateMs: number;
  /** Share of events that the fault affects, chosen at random: above 0, up to 1. Default: all events. */
  readonly rate?: number | undefined;
  /** Number of events that the fault will still affect. Default: all events until the fault changes. */
  readonly times?: number | undefined;
}

/** Fault to set. `late` requires `lateMs`. */
export type EventFaultInput = Pick<EventFault, "mode" | "rate" | "times"> & {
  readonly lateMs?: number | undefined;
};

export const eventFaultInput: z.ZodType<EventFaultInput> = z.strictObject({
  mode: z.enum(eventFaultModes),
  lateMs: span.optional(),
  ...affected,
});

/** The event fault and its current effect. */
export interface EventFaultState extends EventFault {
  /** Number of events that have not entered the log yet. */
  readonly held: number;
}

export interface EventFaultsOptions {
  readonly store: Store;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly random: Random;
  /** Called with a bot's `seq` after late events have entered its log. */
  readonly onEvents: (bot: number) => void;
}

const NONE: EventFault = { mode: "none", lateMs: 0 };

/** Optional event fields that `sparse` drops, in rotation: each alone, then all of them. */
const MISSING_FIELDS: readonly (readonly string[])[] = [
  ...optionalFields.map((name) => [name]),
  optionalFields,
];

/**
 * Commits events late, as if two transactions overlapped and the one with the lower event number committed last. Pages,
 * deliveries and cursors exclude a late event. Once it is in the log, the event counts as new. The state file records
 * which events are late.
 */
export class EventFaults {
  readonly #options: EventFaultsOptions;
  readonly #active: ActiveFault<EventFault>;
  #cancel: () => void = () => {};
  #sparseEvents = 0;

  constructor(options: EventFaultsOptions) {
    this.#options = options;
    const { timeline, random } = options;
    this.#active = new ActiveFault({
      none: NONE,
      target: "events",
      timeline,
      random,
      describe,
      afterwards: "no further events are affected",
    });
  }

  get state(): EventFaultState {
    return { ...this.#active.current, held: this.#options.store.lateEvents.count() };
  }

  /**
   * Replaces the fault. Events that are already late still enter the log when they are due.
   *
   * @throws {PlatformError} 400 VALIDATION
   */
  set({ lateMs = NONE.lateMs, ...fault }: EventFaultInput): void {
    if (fault.mode === "late" && lateMs === 0) {
      throw invalid("events.lateMs is required in late mode, in ms");
    }
    this.#sparseEvents = 0;
    this.#active.set({ ...fault, lateMs });
  }

  end(): void {
    this.#active.end();
  }

  /**
   * Delays an event if the mode is `late`. Must run in the transaction that appends the event. The caller must call
   * `wake` after the transaction.
   *
   * @returns the delay in ms; 0 if the event is already in the log
   */
  hold(logged: LoggedEvent): number {
    const { store, clock } = this.#options;
    const { lateMs } = this.#active.current;
    if (!this.#takes("late")) return 0;
    store.lateEvents.hold(logged, clock.now() + lateMs);
    return lateMs;
  }

  reportsOwn(): boolean {
    return this.#takes("own");
  }

  /** Drops optional fields if the mode is `sparse`. A `dm.message` has no optional fields. */
  thin(event: NewEvent): NewEvent {
    if (event.type === "dm.message" || !this.#takes("sparse")) return event;
    const missing = MISSING_FIELDS[this.#sparseEvents % MISSING_FIELDS.length] ?? [];
    this.#sparseEvents += 1;
    const fields = Object.entries(event.payload).filter(([name]) => !missing.includes(name));
    return { type: event.type, payload: Object.fromEntries(fields) };
  }

  /** Adds due events to the log, and schedules the next call. */
  wake(): void {
    this.stop();
    const { store, clock, onEvents } = this.#options;
    const due = store.lateEvents.due(clock.now());
    const bots = due.length === 0 ? [] : store.transaction(() => this.#release(due));
    for (const seq of due) this.#active.note("released", `${eventId(seq)} is now in the log`);
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

  #takes(mode: EventFault["mode"]): boolean {
    return this.#active.current.mode === mode && this.#active.take().mode === mode;
  }

  /**
   * Adds late events to the log and returns the receiving bots. Because the events count as new, the current webhook
   * configuration decides whether they are delivered.
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
