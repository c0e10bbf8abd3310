import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { eventTypes, isEventType } from "../events/payload.ts";
import { type Listeners, leaseLosses, runOutcomes, storeFailures, subscribe } from "./channels.ts";
import { type GaugeSources, Gauges } from "./gauges.ts";

export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

export class Metrics {
  readonly #registry = new Registry();
  /** Created on startup, because it measures the event loop from then on. */
  readonly #process = processRegistry();
  readonly #unsubscribe: () => void;
  #gauges: Gauges | undefined;

  constructor(bot: object, readsLog: boolean) {
    const registry = this.#registry;
    const listeners: Listeners = {
      ...countIntake(registry),
      ...countRuns(registry),
      ...(readsLog ? countPolls(registry) : {}),
      ...countRequests(registry),
      ...countStore(registry),
    };
    this.#unsubscribe = subscribe(bot, listeners);
  }

  watch(sources: GaugeSources): void {
    this.#gauges = new Gauges(this.#registry, sources);
  }

  /** Returns the metrics of the bot and the process in the Prometheus text format 0.0.4. Never rejects. */
  async text(): Promise<string> {
    const sample = await this.#gauges?.sample();
    // No await between update and read. Otherwise, a concurrent scrape would see only part of the update.
    this.#gauges?.update(sample);
    const texts = await Promise.all([this.#registry.metrics(), this.#process.metrics()]);
    return texts.join("\n");
  }

  close(): void {
    this.#unsubscribe();
  }
}

/** In seconds. The smallest is about one disk write, and the largest is the platform's delivery timeout. */
const STORE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** In seconds. The smallest is about an empty handler, and the largest is the usual time limit. */
const RUN_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** In seconds, up to a request's deadline. */
const REQUEST_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const OK = "OK";

const UNKNOWN_TYPE = "unknown";

/** Unknown types share a label value, so that a sender cannot create label values. */
const typeLabel = (type: string) => (isEventType(type) ? type : UNKNOWN_TYPE);

const typeLabels: readonly string[] = [...eventTypes, UNKNOWN_TYPE];

const sources = ["webhook", "poll"];

/** Responses whose series exist from the start. */
const answers = [
  ["200", OK],
  ["400", "SIGNATURE_MISSING"],
  ["400", "SIGNATURE_MALFORMED"],
  ["400", "SIGNATURE_STALE"],
  ["401", "SIGNATURE_MISMATCH"],
  ["400", "BODY_INVALID"],
  ["415", "BODY_ENCODED"],
  ["413", "BODY_TOO_LARGE"],
  ["413", "BODY_TOO_COMPLEX"],
  ["503", "INBOX_FULL"],
  ["503", "STORE_UNAVAILABLE"],
] as const;

function countIntake(registry: Registry) {
  const deliveries = counter(
    registry,
    "service_bot_deliveries_total",
    "Webhook deliveries that got a response.",
    { status: [], code: [] },
  );
  for (const [status, code] of answers) deliveries.inc({ status, code }, 0);
  const seconds = histogram(
    registry,
    "service_bot_delivery_duration_seconds",
    "Time from a delivery's last byte to the response, if its signature is valid.",
    STORE_BUCKETS,
  );
  const events = counter(registry, "service_bot_events_total", "New events stored.", {
    type: typeLabels,
    source: sources,
  });
  const duplicates = counter(
    registry,
    "service_bot_events_duplicate_total",
    "Repeated events that were already in the inbox.",
    { source: sources },
  );
  const unusable = counter(
    registry,
    "service_bot_events_unusable_total",
    "New events stored as dead letters because they cannot be handled.",
    { source: sources },
  );
  return {
    delivery({ status, code, ms, isProbe = false }) {
      if (isProbe) return;
      deliveries.inc({ status, code: code ?? OK });
      // Deliveries are timed by the system clock, which may have been set back.
      if (ms !== undefined) seconds.observe(Math.max(0, ms) / 1000);
    },
    batch({ source, ...batch }) {
      const isNew = new Set(batch.stored);
      for (const { id, type } of batch.events) {
        // Count an event only once, even if the batch contains it twice.
        if (isNew.delete(id)) events.inc({ type: typeLabel(type), source });
      }
      duplicates.inc({ source }, batch.duplicates);
      unusable.inc({ source }, batch.unusable);
    },
  } satisfies Listeners;
}

function countRuns(registry: Registry) {
  const attempts = counter(
    registry,
    "service_bot_handler_attempts_total",
    "Runs of an event's handlers.",
    { type: typeLabels, outcome: runOutcomes },
  );
  const seconds = histogram(
    registry,
    "service_bot_handler_duration_seconds",
    "Duration of a run.",
    RUN_BUCKETS,
    ["type"],
  );
  const blocks = counter(
    registry,
    "service_bot_event_loop_blocks_total",
    "Times that code blocked the event loop for over a second.",
    {},
  );
  const leasesLost = counter(registry, "service_bot_leases_lost_total", "Lost leases.", {
    what: leaseLosses,
  });
  return {
    run({ type, outcome, ms }) {
      const label = typeLabel(type);
      attempts.inc({ type: label, outcome });
      if (outcome !== "skipped") seconds.observe({ type: label }, ms / 1000);
    },
    "lease-lost": ({ what }) => leasesLost.inc({ what }),
    blocked: () => blocks.inc(),
  } satisfies Listeners;
}

function countPolls(registry: Registry) {
  const reads = counter(registry, "service_bot_log_reads_total", "Reads of the event log.", {
    code: [OK],
  });
  const switches = counter(
    registry,
    "service_bot_mode_switches_total",
    "Switches between polling and auditing.",
    { to: ["auditing", "polling"] },
  );
  return {
    poll: ({ code }) => reads.inc({ code: code ?? OK }),
    mode: ({ mode }) => switches.inc({ to: mode }),
  } satisfies Listeners;
}

function countRequests(registry: Registry) {
  const requests = counter(
    registry,
    "service_bot_api_requests_total",
    "Requests to the platform.",
    { operation: [], status: [], code: [] },
  );
  const seconds = histogram(
    registry,
    "service_bot_api_request_duration_seconds",
    "Duration of a request, including its response.",
    REQUEST_BUCKETS,
    ["operation"],
  );
  const unsentRequests = counter(
    registry,
    "service_bot_api_held_back_total",
    "Requests not sent because the platform is down or the budget is spent.",
    { code: ["API_CIRCUIT_OPEN", "API_BUDGET_SPENT"] },
  );
  const tokenRefused = counter(
    registry,
    "service_bot_token_refused_total",
    "Responses that refuse the token: 401 if it is unknown, 403 if a scope is missing.",
    { status: ["401", "403"] },
  );
  const circuits = new Gauge({
    name: "service_bot_circuit_open",
    help: "1 while the bot pauses requests.",
    labelNames: ["circuit", "why"],
    registers: [registry],
  });
  circuits.set({ circuit: "platform", why: "outages" }, 0);
  circuits.set({ circuit: "token", why: "token" }, 0);
  return {
    request({ operation, status, code, ms }) {
      // Without a response or an error code, the deadline passed or the caller aborted the request.
      const label = code ?? (status === undefined ? "ABORTED" : OK);
      requests.inc({ operation, status: status ?? "none", code: label });
      seconds.observe({ operation }, ms / 1000);
      // A 403 with another code, such as for a user who blocked the bot, is unrelated to the token.
      const lacksScope = status === 403 && (code === "AGENT_SCOPE_MISSING" || code === "API_ERROR");
      if (status === 401 || lacksScope) tokenRefused.inc({ status });
    },
    "held-back": ({ code }) => unsentRequests.inc({ code }),
    circuit: ({ of: circuit, why, open }) => circuits.set({ circuit, why }, open ? 1 : 0),
  } satisfies Listeners;
}

function countStore(registry: Registry) {
  const seconds = histogram(
    registry,
    "service_bot_store_transaction_duration_seconds",
    "Duration of a transaction, including the sync to disk with SQLite.",
    STORE_BUCKETS,
  );
  const failures = counter(registry, "service_bot_store_failures_total", "Failures of the store.", {
    reason: storeFailures,
  });
  return {
    transaction: ({ ms }) => seconds.observe(ms / 1000),
    "store-failure": ({ reason }) => failures.inc({ reason }),
  } satisfies Listeners;
}

/**
 * Creates a counter whose series exist from the start. Otherwise, a series would appear with its first event and show
 * no increase, so no alert would notice the event.
 */
function counter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  values: { readonly [K in L]: readonly string[] },
): Counter<L> {
  const labelNames = Object.keys(values) as L[];
  const made = new Counter<L>({ name, help, labelNames, registers: [registry] });
  const entries: [string, readonly string[]][] = Object.entries(values);
  const combinations = entries.reduce<Partial<Record<string, string>>[]>(
    (all, [label, options]) =>
      all.flatMap((labels) => options.map((value) => ({ ...labels, [label]: value }))),
    [{}],
  );
  for (const labels of combinations) made.inc(labels, 0);
  return made;
}

function histogram<L extends string = never>(
  registry: Registry,
  name: string,
  help: string,
  buckets: number[],
  labelNames: L[] = [],
): Histogram<L> {
  return new Histogram<L>({ name, help, labelNames, buckets, registers: [registry] });
}

let ofProcess: Registry | undefined;

/**
 * Default metrics to remove. Gauges must not end in `_total`, and `nodejs_active_resources` contains the other values.
 */
const LEFT_OUT = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** One registry for all bots in the process, because the event loop monitor cannot be stopped. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    for (const name of LEFT_OUT) ofProcess.removeSingleMetric(name);
  }
  return ofProcess;
}
