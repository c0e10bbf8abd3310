import { Client, type ClientOptions } from "../client/client.ts";
import type { Sharing } from "../client/gate.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { aboutEvent } from "../core/current-event.ts";
import { channels } from "../observe/channels.ts";
import type { BotOptions } from "../options.ts";
import { REQUEST_TIMEOUT_MS } from "./defaults.ts";

export interface ClientParts {
  readonly clock: Clock;
  /** What it has together with the clients of other instances. */
  readonly sharing: Sharing;
  /** Sender of what is published on channels. */
  readonly bot: object;
}

export function makeClient(
  config: Config,
  options: BotOptions,
  { clock, sharing, bot }: ClientParts,
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
  return new Client(clientOptions, sharing, bot);
}
