import { reserveOf } from "./client/budget.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./core/logger.ts";

/** Says once where the budget of requests is too small for an interval, even with nothing else to do. */
export function warnOfBudget(config: Config, log: Logger): void {
  const { maxRequestsPerMinute: perMinute, delivery, pollIntervalMs, auditIntervalMs } = config;
  if (perMinute === undefined || delivery === "webhook") return;
  const polls = perMinute - reserveOf(perMinute);
  const short = [wanting("POLL_INTERVAL_MS", pollIntervalMs, polls)];
  if (delivery === "auto") short.push(wanting("AUDIT_INTERVAL_MS", auditIntervalMs, perMinute));
  for (const line of short.filter((line) => line !== undefined)) {
    log.warn(
      `MAX_REQUESTS_PER_MINUTE=${perMinute} ${line}; the event log is read more slowly than that`,
    );
  }
}

function wanting(name: string, intervalMs: number, places: number): string | undefined {
  const wanted = Math.ceil(60_000 / intervalMs);
  if (wanted <= places) return undefined;
  return `leaves ${places} for what ${name}=${intervalMs} makes ${wanted} or more`;
}
