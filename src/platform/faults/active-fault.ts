import type { Random } from "../../core/clock.ts";
import type { FaultEntry } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";

/** Fields of every fault. */
export interface Fault {
  /** `none` where nothing goes wrong. */
  readonly mode: string;
  /** The share that is touched, chosen at random: above 0, up to 1. Absent: all. */
  readonly rate?: number | undefined;
  /** How often the fault still applies. Absent: always, until it is changed. */
  readonly times?: number | undefined;
}

export interface ActiveFaultOptions<F extends Fault> {
  /** The fault of mode `none`. */
  readonly none: F;
  /** Name of the fault in the timeline. */
  readonly target: FaultEntry["target"];
  readonly timeline: Timeline;
  readonly random: Random;
  /** A fault of another mode in the words of the timeline. */
  readonly describe: (fault: F) => string;
  /** Text of the timeline after the mode, once `times` is used up. */
  readonly afterwards: string;
}

/** The fault that is set, and how often it still applies. Publishes changes on the timeline. */
export class ActiveFault<F extends Fault> {
  readonly #options: ActiveFaultOptions<F>;
  #fault: F;

  constructor(options: ActiveFaultOptions<F>) {
    this.#options = options;
    this.#fault = options.none;
  }

  get current(): F {
    return this.#fault;
  }

  set(fault: F): void {
    this.#fault = fault;
    this.note("set", fault.mode === "none" ? "none" : this.#options.describe(fault));
  }

  /** Ends the fault, if there is one. */
  end(): void {
    if (this.#fault.mode !== "none") this.set(this.#options.none);
  }

  /** Uses up one time. The fault of mode `none` when this one is not touched. */
  take(): F {
    const { none, random, afterwards } = this.#options;
    const fault = this.#fault;
    if (fault.mode === "none") return none;
    if (fault.rate !== undefined && random() >= fault.rate) return none;
    if (fault.times === undefined) return fault;
    const times = fault.times - 1;
    this.#fault = times === 0 ? none : { ...fault, times };
    if (times === 0) this.note("ended", `${fault.mode}: ${afterwards}`);
    return fault;
  }

  /** Says in the timeline what became of it. */
  note(
    change: FaultEntry["change"],
    detail: string,
    about?: Pick<FaultEntry, "bot" | "eventId">,
  ): void {
    const { timeline, target } = this.#options;
    timeline.add({ kind: "fault", target, change, detail, ...about });
  }
}

/** Describes the reach of a fault: "all requests", "the next delivery", "the next 3 deliveries", "30 % of all events". */
export function reach({ rate, times }: Fault, things: string): string {
  if (times === 1) return `the next ${things.replace(/ies$/, "y").replace(/s$/, "")}`;
  if (times !== undefined) return `the next ${times} ${things}`;
  return rate === undefined ? `all ${things}` : `${Math.round(rate * 100)} % of all ${things}`;
}
