/** The used parts of prom-client. The package bundles them, so a bot does not install prom-client. */
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
