export { Calls } from "../../src/metrics/calls.ts";
export { Looks } from "../../src/metrics/looks.ts";
export { Meter } from "../../src/metrics/meter.ts";
export { Registry } from "../../src/metrics/prom.ts";
export { serveMetrics } from "../../src/metrics/server.ts";
