import * as z from "zod";
import type { Random } from "../../core/clock.ts";
import type { FaultEntry } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";

/** HTTP status of a failure. */
export const failureStatus: z.ZodType<number> = z.int().min(300).max(599);

/** Time in ms, up to a day. */
export const span: z.ZodType<number> = z.int().min(1).max(86_400_000);

type Optional = z.ZodType<number | undefined>;

/** Fields that select how many requests or events a fault affects. */
export const affected: { readonly rate: Optional; readonly times: Optional } = {
  rate: z.number().gt(0).max(1).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
};

export interface Fault {
  /** `none` if no fault is active. */
  readonly mode: string;
  /** Probability that the fault affects a request or event: above 0, up to 1. Default: 1. */
  readonly rate?: number | undefined;
  /** Number of remaining uses. Default: unlimited. */
  readonly times?: number | undefined;
}

export interface ActiveFaultOptions<F extends Fault> {
  readonly none: F;
  readonly target: FaultEntry["target"];
  readonly timeline: Timeline;
  readonly random: Random;
  readonly describe: (fault: F) => string;
  /** Timeline text for when `times` is used up. */
  readonly afterwards: string;
}

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

  end(): void {
    if (this.#fault.mode !== "none") this.set(this.#options.none);
  }

  /** Uses the fault once. Returns a fault in mode `none` if `rate` spares this request or event. */
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

  note(
    change: FaultEntry["change"],
    detail: string,
    about?: Pick<FaultEntry, "bot" | "eventId">,
  ): void {
    const { timeline, target } = this.#options;
    timeline.add({ kind: "fault", target, change, detail, ...about });
  }
}

/** Describes a fault's scope: "all requests", "the next delivery", "the next 3 deliveries", "30 % of all events". */
export function reach({ rate, times }: Fault, things: string): string {
  if (times === 1) return `the next ${things.replace(/ies$/, "y").replace(/s$/, "")}`;
  if (times !== undefined) return `the next ${times} ${things}`;
  return rate === undefined ? `all ${things}` : `${Math.round(rate * 100)} % of all ${things}`;
}
