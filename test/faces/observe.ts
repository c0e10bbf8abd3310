export {
  type ChannelMessages,
  channels,
  type Listeners,
  stepOutcomes,
  subscribe,
  traced,
  works,
} from "../../src/observe/channels.ts";
export type { GaugeSources } from "../../src/observe/gauges.ts";
export { logFacts } from "../../src/observe/log.ts";
export { Metrics } from "../../src/observe/metrics.ts";
export { serveMetrics } from "../../src/observe/metrics-server.ts";
export { RunReporter } from "../../src/observe/run-reporter.ts";
export { readStatus, type WrittenStatus } from "../../src/observe/status.ts";
export { spanOutcomes } from "../../src/observe/tracing.ts";
