import type { Transport } from "../client/transport.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import type { Listening } from "../core/listen.ts";
import type { Logger } from "../core/logger.ts";
import type { GaugeSources } from "./gauges.ts";
import { logFacts } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { RunReporter } from "./run-reporter.ts";
import { StoreHealth } from "./store-health.ts";

export interface ObserversOptions {
  readonly config: Pick<
    Config,
    "baseUrl" | "apiKey" | "delivery" | "metricsHost" | "metricsPort" | "statusToken" | "tracing"
  >;
  readonly send: Transport;
  readonly log: Logger;
  readonly clock: Pick<Clock, "now">;
}

/** One bot's subscribers: its log and, if enabled, its spans, metrics and reports to a local platform. */
export class Observers {
  readonly storeHealth: StoreHealth;
  readonly #options: ObserversOptions;
  readonly #ends: (() => void)[] = [];
  /** `undefined` unless the platform is on this machine. */
  readonly #reporter: RunReporter | undefined;
  #metrics: Metrics | undefined;
  #server: Listening | undefined;

  /**
   * Subscribes before the bot's other parts exist. Loads metrics and tracing only if they are enabled.
   */
  static async create(bot: object, options: ObserversOptions): Promise<Observers> {
    const { config, log } = options;
    const observers = new Observers(bot, options);
    const ends = observers.#ends;
    try {
      if (config.tracing === "on") {
        const { startTracing } = await import("./tracing.ts");
        ends.push(startTracing(bot, log));
      }
      if (config.metricsPort !== undefined) {
        const { Metrics } = await import("./metrics.ts");
        const metrics = new Metrics(bot, config.delivery !== "webhook");
        observers.#metrics = metrics;
        ends.push(() => metrics.close());
      }
    } catch (error) {
      observers.end();
      throw error;
    }
    return observers;
  }

  private constructor(bot: object, options: ObserversOptions) {
    const { config, send, log, clock } = options;
    const { baseUrl, apiKey } = config;
    this.#options = options;
    this.storeHealth = new StoreHealth(bot, clock);
    this.#ends.push(() => this.storeHealth.end());
    this.#ends.push(logFacts(bot, log));
    const reporter = RunReporter.for(bot, { baseUrl, apiKey, send });
    this.#reporter = reporter;
    this.#ends.push(() => reporter?.end());
  }

  watch(sources: GaugeSources): void {
    this.#metrics?.watch(sources);
  }

  get metricsUrl(): string | undefined {
    return this.#server && `${this.#server.url}/metrics`;
  }

  /**
   * Serves the metrics if METRICS_PORT is set.
   *
   * @throws {ServiceBotError} ADDRESS_IN_USE
   * @throws {ConfigError} CONFIG_INVALID
   */
  async serve(): Promise<void> {
    const { metricsHost, metricsPort, statusToken } = this.#options.config;
    if (this.#metrics === undefined || metricsPort === undefined) return;
    const { serveMetrics } = await import("./metrics-server.ts");
    this.#server = await serveMetrics(this.#metrics, metricsHost, metricsPort, statusToken);
  }

  /** @param url URL of the bot's server, if it has one */
  announce(url: string | undefined): void {
    this.#reporter?.start(url);
  }

  /** Closes the metrics server and the reporter. Logging continues until {@link end}. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await Promise.all([server?.close(), this.#reporter?.close()]);
  }

  end(): void {
    for (const end of this.#ends) end();
  }
}
