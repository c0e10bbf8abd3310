import type { BreakerChange } from "../client/breaker.ts";
import { Client, type ClientOptions } from "../client/client.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { aboutEvent } from "../core/current-event.ts";
import type { Logger } from "../core/logger.ts";
import type { Tracing } from "../core/tracing.ts";
import type { Calls } from "../metrics/calls.ts";
import type { BotOptions } from "../options.ts";
import { REQUEST_TIMEOUT_MS } from "./defaults.ts";

const TOKEN_REFUSED =
  "the platform does not accept the token: check SERVICE_API_KEY, replace it, and restart; events wait until then";

const APP_REFUSED =
  "the platform refuses every request of the app: enable it in the developer portal; events wait until then";

export interface ClientParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracing: Tracing | undefined;
  /** Counts requests; undefined without metrics. */
  readonly calls: Calls | undefined;
}

export function createClient(
  config: Config,
  options: BotOptions,
  { clock, log, tracing, calls }: ClientParts,
): Client {
  const clientOptions: ClientOptions = {
    baseUrl: config.baseUrl,
    apiKey: config.apiKey,
    timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    retries: options.requestRetries,
    clock,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    random: options.random ?? Math.random,
    maxRequestsPerMinute: config.maxRequestsPerMinute,
    onRequest: (request) => {
      const { method, path, status, ms } = request;
      log.debug({ method, path, status, ms, ...aboutEvent() }, "api");
      calls?.requested(request);
    },
    ...(calls && { onHeldBack: (code) => calls.heldBack(code) }),
    onBudget: ({ kind, perMinute }) =>
      log.warn({ kind, perMinute, ...aboutEvent() }, "requests wait for MAX_REQUESTS_PER_MINUTE"),
    onBreaker: (change) => {
      calls?.circuit(change);
      logBreaker(log, change);
    },
  };
  return new Client(clientOptions, tracing);
}

function logBreaker(log: Logger, { of: operation, why, open, retryInMs, error }: BreakerChange) {
  const line = { operation, ...aboutEvent() };
  if (!open) log.info(line, "requests to the platform go out again");
  else if (why !== "token")
    log.warn({ ...line, retryInMs }, "requests to the platform are held back");
  else if (error?.status === 401) {
    log.error({ ...line, refused: "token", retryInMs, err: error }, TOKEN_REFUSED);
  } else log.error({ ...line, refused: "app", retryInMs, err: error }, APP_REFUSED);
}
