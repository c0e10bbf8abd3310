import type { Config } from "../config.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Listening } from "../receiver/server.ts";

/** What counts for METRICS_PORT; undefined without it, and then nothing of it is loaded. */
export async function makeMeter(config: Config): Promise<Meter | undefined> {
  if (config.metricsPort === undefined) return undefined;
  const { Meter } = await import("../metrics/meter.ts");
  return new Meter(config.delivery !== "webhook");
}

/**
 * Serves the metrics where METRICS_HOST and METRICS_PORT say.
 *
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID
 */
export async function serveMeter(
  meter: Meter | undefined,
  { metricsHost, metricsPort }: Config,
): Promise<Listening | undefined> {
  if (meter === undefined || metricsPort === undefined) return undefined;
  const { serveMetrics } = await import("../metrics/server.ts");
  return await serveMetrics(meter, metricsHost, metricsPort);
}
