import type { FaultsState } from "../../../types.ts";
import { duration } from "../../parts/duration.ts";
import { type Target, targets } from "./modes.ts";

/** What goes wrong with a part now, with what is left of it; undefined when all goes as usual. */
export function activeFault(target: Target, faults: FaultsState): string | undefined {
  const { mode, rate, times } = faults[target];
  if (mode === "none") return undefined;
  const what = describe(target, faults);
  const share = rate === undefined ? "" : `, ${Math.round(rate * 1_000) / 10} % of them`;
  return `${what}${share}, ${times === undefined ? "until it is stopped" : `${times} left`}`;
}

/** What is held back by a fault, also by one that has ended; undefined when there is nothing. */
export function heldBack(target: Target, faults: FaultsState): string | undefined {
  if (target === "webhook") return undefined;
  const { held } = faults[target];
  if (held === 0) return undefined;
  if (target === "events") return `${held} still to come into the log.`;
  return `${held} held now; Stop lets them go.`;
}

/** How many parts have something that goes wrong. */
export function activeCount(faults: FaultsState): number {
  return targets.filter((target) => faults[target].mode !== "none").length;
}

function describe(target: Target, { webhook, api, events }: FaultsState): string {
  switch (target) {
    case "webhook":
      return describeDelivery(webhook);
    case "events":
      return describeEvents(events);
    case "api":
      return describeRequest(api);
  }
}

function describeDelivery({ mode, status, delayMs }: FaultsState["webhook"]): string {
  const texts: Readonly<Record<typeof mode, string>> = {
    none: "as usual",
    status: `fails with ${status}`,
    drop: "dropped",
    timeout: "times out",
    "lose-answer": "answer lost",
    twice: "sent twice",
    shuffle: "shuffled",
    delay: late(delayMs),
  };
  return texts[mode];
}

function describeEvents({ mode, lateMs }: FaultsState["events"]): string {
  const texts: Readonly<Record<typeof mode, string>> = {
    none: "as usual",
    late: late(lateMs),
    own: "also of its own",
    sparse: "fields missing",
  };
  return texts[mode];
}

function late(ms: number): string {
  return `late by ${ms < 1_000 ? `${ms} ms` : duration(ms)}`;
}

function describeRequest({ mode, status, match, retryAfterSeconds }: FaultsState["api"]): string {
  const wait = retryAfterSeconds === undefined ? "" : `, Retry-After ${retryAfterSeconds} s`;
  const texts: Readonly<Record<typeof mode, string>> = {
    none: "as usual",
    hold: "held",
    status: `answered with ${status}${wait}`,
    "lose-answer": "executed, then reset",
    gateway: `executed, then a gateway's ${status}${wait}`,
    mix: "429, 500, 503 or reset",
  };
  return `${texts[mode]}, ${match === "write" ? "writes only" : "all requests"}`;
}
