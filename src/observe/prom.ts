/** Re-exports the parts of prom-client in use. The package bundles them, so a bot installs no further dependency. */
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
