import type { Logger } from "../core/logger.ts";
import type { Tracing } from "../core/tracing.ts";

/** Loaded late, for a bot that does not trace needs no such package. @throws {ServiceBotError} TRACING_MISSING */
export async function startTracing(log: Logger): Promise<Tracing> {
  const { OpenTelemetry } = await import("../tracing/open-telemetry.ts");
  const { loadApi } = await import("../tracing/api.ts");
  const tracing = new OpenTelemetry(await loadApi());
  if (!tracing.isTakenUp()) {
    log.warn(
      "TRACING is on, and nobody takes up the spans: set up the OpenTelemetry SDK before the bot starts, as in node --import ./tracing.ts",
    );
  }
  return tracing;
}
