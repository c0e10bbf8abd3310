import type { FaultsState } from "../../../types.ts";
import { span } from "../../parts/duration.ts";
import type { Target } from "./modes.ts";

/** Describes the fault of a part, with what is left of it. `undefined` without a fault. */
export function activeFault(target: Target, faults: FaultsState): string | undefined {
  const { mode, rate, times } = faults[target];
  if (mode === "none") return undefined;
  const what = describe(target, faults);
  const share = rate === undefined ? "" : `, ${Math.round(rate * 1_000) / 10} % of them`;
  return `${what}${share}, ${times === undefined ? "until stopped" : `${times} left`}`;
}

/** Counts what a fault holds back, also one that has ended. `undefined` for nothing. */
export function heldBack(target: Target, faults: FaultsState): string | undefined {
  if (target === "webhook") return undefined;
  const { held } = faults[target];
  if (held === 0) return undefined;
  if (target === "events") return `${held} still to come into the log.`;
  return `${held} held; Stop lets them go.`;
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
    status: `fail with ${status}`,
    drop: "are dropped",
    timeout: "time out",
    "lose-answer": "arrive, and their answers are lost",
    twice: "arrive twice",
    shuffle: "arrive in random order",
    delay: late(delayMs),
  };
  return texts[mode];
}

function describeEvents({ mode, lateMs }: FaultsState["events"]): string {
  const texts: Readonly<Record<typeof mode, string>> = {
    none: "as usual",
    late: late(lateMs),
    own: "include those of the bot itself",
    sparse: "lack optional fields",
  };
  return texts[mode];
}

function late(ms: number): string {
  return `are late by ${span(ms)}`;
}

function describeRequest({
  mode,
  status,
  delayMs,
  match,
  retryAfterSeconds,
}: FaultsState["api"]): string {
  const wait = retryAfterSeconds === undefined ? "" : `, Retry-After ${retryAfterSeconds} s`;
  const texts: Readonly<Record<typeof mode, string>> = {
    none: "as usual",
    hold: "hang",
    slow: `take ${span(delayMs)} longer`,
    status: `get ${status}${wait}`,
    "lose-answer": "are executed, and their answers are lost",
    gateway: `are executed, and get a gateway's ${status}${wait}`,
    mix: "get 429, 500, 503 or a reset",
  };
  return match === "write" ? `${texts[mode]}, writes only` : texts[mode];
}
