import { collectDefaultMetrics, Registry } from "./prom.ts";

let registry: Registry | undefined;

/**
 * Their names end as if they counted up, and they do not, which Prometheus' own check of names refuses; and what
 * `nodejs_active_resources` says as well.
 */
const left = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Of the process: one for all the bots in it, for what watches the event loop cannot be taken back. */
export function processRegistry(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const name of left) registry.removeSingleMetric(name);
  }
  return registry;
}
