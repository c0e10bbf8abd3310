import { Client, type ClientOptions } from "../client/client.ts";
import type { Sharing } from "../client/gate.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { Calls } from "../metrics/calls.ts";
import type { BotOptions } from "../options.ts";
import { REQUEST_TIMEOUT_MS } from "./defaults.ts";

export interface ClientParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** What it has together with the clients of other instances. */
  readonly sharing: Sharing;
  /** What counts its requests; undefined where nobody does. */
  readonly calls: Calls | undefined;
}

export function makeClient(
  config: Config,
  options: BotOptions,
  { clock, log, sharing, calls }: ClientParts,
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
      log.debug({ method, path, status, ms }, "api");
      calls?.requested(request);
    },
    ...(calls && { onHeldBack: (code) => calls.heldBack(code) }),
    onBudget: ({ kind, perMinute }) =>
      log.warn({ kind, perMinute }, "requests wait for MAX_REQUESTS_PER_MINUTE"),
    onBreaker: (change) => {
      const { of: operation, open, retryInMs } = change;
      calls?.circuit(change);
      if (open) log.warn({ operation, retryInMs }, "requests to the platform are held back");
      else log.info({ operation }, "requests to the platform go out again");
    },
  };
  return new Client(clientOptions, sharing);
}
