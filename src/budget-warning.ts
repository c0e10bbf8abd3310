import { reserveOf } from "./client/limits.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./core/logger.ts";

/** An interval for which the budget of requests is too small. */
export interface BudgetProblem {
  readonly perMinute: number;
  /** What of it is left for this reading. */
  readonly places: number;
  readonly variable: string;
  readonly intervalMs: number;
  /** How many requests a minute the interval makes at least. */
  readonly wanted: number;
}

/** Says once where the budget of requests is too small for an interval, even with nothing else to do. */
export function warnOfBudget(config: Config, log: Logger): void {
  for (const { perMinute, places, variable, intervalMs, wanted } of budgetProblems(config)) {
    log.warn(
      { perMinute, places, variable, intervalMs, wanted },
      "MAX_REQUESTS_PER_MINUTE leaves fewer requests than an interval makes; the event log is read more slowly",
    );
  }
}

/** Where it is too small; empty where it is not, or there is none. */
export function budgetProblems(config: Config): readonly BudgetProblem[] {
  const { maxRequestsPerMinute: perMinute, delivery, pollIntervalMs, auditIntervalMs } = config;
  if (perMinute === undefined || delivery === "webhook") return [];
  const polls = perMinute - reserveOf(perMinute);
  const readings = [{ variable: "POLL_INTERVAL_MS", intervalMs: pollIntervalMs, places: polls }];
  if (delivery === "auto") {
    readings.push({
      variable: "AUDIT_INTERVAL_MS",
      intervalMs: auditIntervalMs,
      places: perMinute,
    });
  }
  return readings.flatMap(({ variable, intervalMs, places }) => {
    const wanted = Math.ceil(60_000 / intervalMs);
    return wanted <= places ? [] : [{ perMinute, places, variable, intervalMs, wanted }];
  });
}
