import { HANDLER_WAIT_MS } from "../client/limits.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../core/logger.ts";
import type { BotOptions } from "../options.ts";
import type { Router } from "../router/router.ts";
import { HANDLER_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from "./defaults.ts";

/** A platform that accepts requests and never answers counts as away only if requests give up first. */
export function warnOfTimeouts(
  options: BotOptions,
  router: Router,
  config: Config,
  log: Logger,
): void {
  const { handlerTimeoutMs = HANDLER_TIMEOUT_MS, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const waitMs = config.maxRequestsPerMinute === undefined ? 0 : HANDLER_WAIT_MS;
  const isShort = (ms: number | undefined) => ms !== undefined && ms <= requestTimeoutMs + waitMs;
  const types = router.handledTypes.filter((type) => isShort(router.optionsFor(type).timeoutMs));
  const short = types.map((type) => `timeoutMs of "${type}"`);
  if (isShort(handlerTimeoutMs)) short.unshift("handlerTimeoutMs");
  if (short.length === 0) return;
  // With a budget of requests one may have to wait besides.
  const requestMs = requestTimeoutMs + waitMs;
  log.warn(
    { options: short, requestMs },
    "handlers have no more time than a request, so a platform that does not answer costs events their attempts; raise their timeouts or lower requestTimeoutMs",
  );
}
