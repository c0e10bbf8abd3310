import { reserveOf } from "./client/budget.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./core/logger.ts";

/** Says once where the budget of requests is too small for an interval, even with nothing else to do. */
export function warnOfBudget(config: Config, log: Logger): void {
  const { maxRequestsPerMinute: perMinute, delivery, pollIntervalMs, auditIntervalMs } = config;
  if (perMinute === undefined || delivery === "webhook") return;
  const polls = perMinute - reserveOf(perMinute);
  const readings = [{ variable: "POLL_INTERVAL_MS", intervalMs: pollIntervalMs, places: polls }];
  if (delivery === "auto") {
    readings.push({
      variable: "AUDIT_INTERVAL_MS",
      intervalMs: auditIntervalMs,
      places: perMinute,
    });
  }
  for (const { variable, intervalMs, places } of readings) {
    const wanted = Math.ceil(60_000 / intervalMs);
    if (wanted <= places) continue;
    log.warn(
      { perMinute, places, variable, intervalMs, wanted },
      "MAX_REQUESTS_PER_MINUTE leaves fewer requests than an interval makes; the event log is read more slowly",
    );
  }
}
