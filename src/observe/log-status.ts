import type { PollerStatus } from "../poller/snapshot.ts";
import { ageAt } from "./age.ts";

/** Position in the platform's event log. */
export interface LogStatus
  extends Pick<PollerStatus, "cursor" | "lastPollAt" | "lastPollError" | "readToEndAt"> {
  /**
   * Age of `readToEndAt` in ms. `undefined` until the end has been reached. The inbox then contains all earlier events
   * in the log, except any that the platform inserted out of order, which the next audit finds. Normal values are at
   * most the mode's interval plus the time for a read.
   */
  readonly lagMs: number | undefined;
}

export function logStatusOf(read: Omit<LogStatus, "lagMs">, at: number): LogStatus {
  return { ...read, lagMs: ageAt(at, read.readToEndAt) };
}
