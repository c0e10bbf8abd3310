/**
 * As much of prom-client as is used here, loaded when metrics are asked for and not before. The package holds it
 * bundled into this file (`scripts/pack/packages.ts`): a bot installs none of it.
 */
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
