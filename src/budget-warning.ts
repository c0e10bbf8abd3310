import { reserveOf } from "./client/budget.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./core/logger.ts";

/** Says once where the budget of requests is too small for an interval, even with nothing else to do. */
export function warnOfBudget(config: Config, log: Logger): void {
  for (const problem of budgetProblems(config)) {
    log.warn(`${problem}; the event log is read more slowly than that`);
  }
}

/** Where it is too small; empty where it is not, or there is none. */
export function budgetProblems(config: Config): readonly string[] {
  const { maxRequestsPerMinute: perMinute, delivery, pollIntervalMs, auditIntervalMs } = config;
  if (perMinute === undefined || delivery === "webhook") return [];
  const polls = perMinute - reserveOf(perMinute);
  const short = [wanting("POLL_INTERVAL_MS", pollIntervalMs, polls)];
  if (delivery === "auto") short.push(wanting("AUDIT_INTERVAL_MS", auditIntervalMs, perMinute));
  return short.flatMap((line) =>
    line === undefined ? [] : [`MAX_REQUESTS_PER_MINUTE=${perMinute} ${line}`],
  );
}

function wanting(name: string, intervalMs: number, places: number): string | undefined {
  const wanted = Math.ceil(60_000 / intervalMs);
  if (wanted <= places) return undefined;
  return `leaves ${places} for what ${name}=${intervalMs} makes ${wanted} or more`;
}
