import { HANDLER_WAIT_MS, reserveOf } from "../client/request-limiter.ts";
import { type Config, removedVariables } from "../config.ts";
import { isSentInClear } from "../core/addresses.ts";
import type { Logger } from "../core/logger.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { type BotOptions, defaults } from "../options.ts";
import type { Routes } from "../router/routes.ts";

export interface WarningSources {
  readonly config: Config;
  readonly options: BotOptions;
  readonly routes: Routes;
  readonly inbox: Pick<Inbox, "capabilities">;
  readonly log: Logger;
}

/** Logs every setting that is valid but probably a mistake. */
export function logWarnings({ config, options, routes, inbox, log }: WarningSources): void {
  if (options.minFreeBytes !== undefined && !inbox.capabilities.guardsDisk) {
    log.warn("minFreeBytes has no effect because the inbox is not a local file");
  }
  for (const { variable, remedy } of removedVariables(options.env ?? process.env)) {
    log.warn({ variable, remedy }, "a variable is set but no longer read");
  }
  warnOfPlainHttp(config, log);
  warnOfTimeouts(options, routes, config, log);
  warnOfPatterns(routes, log);
  warnOfBudget(config, log);
}

function warnOfPlainHttp({ baseUrl }: Config, log: Logger): void {
  if (!isSentInClear(baseUrl)) return;
  log.warn(
    { platform: baseUrl },
    "SERVICE_BASE_URL is plain http, so others on the network can read the token; use https",
  );
}

/**
 * Warns if handlers would time out before their requests. The bot would then not recognize an outage in which the
 * platform accepts requests but never responds.
 */
function warnOfTimeouts(options: BotOptions, routes: Routes, config: Config, log: Logger): void {
  const {
    handlerTimeoutMs = defaults.handlerTimeoutMs,
    requestTimeoutMs = defaults.requestTimeoutMs,
  } = options;
  // With a request budget, a request may also have to wait before it is sent.
  const waitMs = config.maxRequestsPerMinute === undefined ? 0 : HANDLER_WAIT_MS;
  const requestMs = requestTimeoutMs + waitMs;
  const isShort = (ms: number | undefined) => ms !== undefined && ms <= requestMs;
  const types = routes.handledTypes.filter((type) => isShort(routes.optionsFor(type).timeoutMs));
  const short = types.map((type) => `timeoutMs of "${type}"`);
  if (isShort(handlerTimeoutMs)) short.unshift("handlerTimeoutMs");
  if (short.length === 0) return;
  log.warn(
    { options: short, requestMs },
    "the handler timeout does not exceed requestTimeoutMs, so a platform outage uses up attempts; raise the handler timeout or lower requestTimeoutMs",
  );
}

function warnOfPatterns({ slowPatterns: patterns }: Routes, log: Logger): void {
  if (patterns.length === 0) return;
  log.warn(
    { patterns },
    "some texts make these expressions slow, and then the event becomes a dead letter; avoid repetitions inside repetitions",
  );
}

/** An interval that needs more requests than the budget allows. */
export interface BudgetProblem {
  readonly perMinute: number;
  /** Requests per minute that the budget leaves for this interval. */
  readonly places: number;
  readonly variable: string;
  readonly intervalMs: number;
  /** Minimum number of requests per minute at this interval. */
  readonly wanted: number;
}

function warnOfBudget(config: Config, log: Logger): void {
  for (const { perMinute, places, variable, intervalMs, wanted } of budgetProblems(config)) {
    log.warn(
      { perMinute, places, variable, intervalMs, wanted },
      "MAX_REQUESTS_PER_MINUTE is too low for the interval; the bot reads the event log less often",
    );
  }
}

/** Returns the intervals that exceed the budget on their own. Empty if there is no budget. */
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
