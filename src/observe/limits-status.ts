import type { RequestsStatus } from "../client/request-limiter.ts";
import type { Measure } from "./measure.ts";

/** The loop guard of this instance. */
export interface LoopGuardStatus {
  /** Number of conversations and posts in which the guard held back an event within its last window. */
  readonly holding: number;
}

export const loopGuardMeasures: readonly Measure<LoopGuardStatus | undefined>[] = [
  {
    name: "loop_guard_holding",
    help: "Conversations and posts in which the loop guard held back an event within its last window.",
    read: (loopGuard) => loopGuard?.holding ?? 0,
  },
];

/** Measures of a bot with a request budget. */
export const requestMeasures: readonly Measure<RequestsStatus | undefined>[] = [
  {
    name: "request_budget_limit",
    help: "This instance's share of the requests per minute.",
    read: (requests) => requests?.perMinute,
  },
  {
    name: "request_budget_left",
    help: "Requests that this instance may send now.",
    read: (requests) => requests?.left,
  },
  {
    name: "request_budget_waiting",
    help: "This instance's requests waiting for the budget.",
    read: (requests) => requests?.waiting,
  },
];
