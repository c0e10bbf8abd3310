import { Client, type ClientOptions } from "../client/client.ts";
import type { Sharing } from "../client/gate.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { BotOptions } from "../options.ts";
import { REQUEST_TIMEOUT_MS } from "./defaults.ts";

/** @param sharing what it has together with the clients of other instances */
export function makeClient(
  config: Config,
  options: BotOptions,
  { clock, log, sharing }: { clock: Clock; log: Logger; sharing: Sharing },
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
    onRequest: ({ method, path, status, ms }) => log.debug({ method, path, status, ms }, "api"),
    onBudget: ({ kind, perMinute }) =>
      log.warn({ kind, perMinute }, "requests wait for MAX_REQUESTS_PER_MINUTE"),
    onBreaker: ({ of: operation, open, retryInMs }) => {
      if (open) log.warn({ operation, retryInMs }, "requests to the platform are held back");
      else log.info({ operation }, "requests to the platform go out again");
    },
  };
  return new Client(clientOptions, sharing);
}
