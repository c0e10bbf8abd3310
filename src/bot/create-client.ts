import { Client, type ClientOptions } from "../client/client.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { aboutEvent } from "../core/current-event.ts";
import { channels } from "../observe/channels.ts";
import type { BotOptions } from "../options.ts";
import { REQUEST_TIMEOUT_MS } from "./defaults.ts";

export interface ClientParts {
  readonly clock: Clock;
  /** Sender of what is published on channels. */
  readonly bot: object;
}

export function createClient(
  config: Config,
  options: BotOptions,
  { clock, bot }: ClientParts,
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
    onHeldBack: (code) => channels["held-back"].publish({ bot, code }),
    onBudget: (wait) => channels["budget-wait"].publish({ bot, ...wait, ...aboutEvent() }),
    onBreaker: (change) => channels.circuit.publish({ bot, ...change, ...aboutEvent() }),
  };
  return new Client(clientOptions, bot);
}
