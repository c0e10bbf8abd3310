/** The parts of prom-client that metrics use, loaded with them. The package bundles them, so a bot installs none. */
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
