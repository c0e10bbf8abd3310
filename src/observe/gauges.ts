import { Gauge, type Registry } from "prom-client";
import type { Config } from "../config.ts";
import { version } from "../core/manifest.ts";
import { SharedCall } from "../core/shared-call.ts";
import type { InboxMeasures } from "../inbox/admin.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Poller } from "../poller/poller.ts";
import { inboxMeasures } from "./inbox-status.ts";
import { loopGuardMeasures, requestMeasures } from "./limits-status.ts";
import type { Measure } from "./measure.ts";
import {
  type BotStatus,
  type StatusSources,
  type StoreSample,
  sampleStore,
  statusOf,
} from "./status.ts";
import { diskMeasures, storeMeasures } from "./store-health.ts";

export interface GaugeSources extends Omit<StatusSources, "isReady"> {
  readonly isStarted: () => boolean;
  readonly inbox: Pick<Inbox, "measure" | "shared" | "problem" | "capabilities">;
  readonly dispatcher: { readonly running: number };
  readonly poller: Pick<Poller, "status" | "leads"> | undefined;
  readonly config: StatusSources["config"] & Pick<Config, "database" | "concurrency">;
}

/** Time limit for the store, in ms. Prometheus aborts a scrape after ten seconds, and other scrapers abort sooner. */
const STORE_TIMEOUT_MS = 2_000;

interface Scrape {
  readonly status: BotStatus;
  readonly sources: GaugeSources;
  readonly disk: InboxMeasures["disk"];
}

type Row = Measure<Scrape>;

/** Lets the measures of a section read their part of the status. */
function rowsIn<K extends keyof BotStatus>(
  section: K,
  measures: readonly Measure<BotStatus[K]>[],
): Row[] {
  return measures.map((measure) => ({
    ...measure,
    read: ({ status }) => measure.read(status[section]),
  }));
}

/** Gauges computed for each scrape. Gauges that need the store are NaN while it does not respond. */
export class Gauges {
  readonly #sources: GaugeSources;
  readonly #gauges: readonly { readonly row: Row; readonly gauge: Gauge }[];
  /** Runs one query at a time, no matter how many scrapers request the metrics. */
  readonly #store: SharedCall<StoreSample>;

  constructor(registry: Registry, sources: GaugeSources) {
    const { inbox, config } = sources;
    this.#sources = sources;
    this.#store = new SharedCall(() => sampleStore(inbox));
    const { delivery, database } = config;
    new Gauge({
      name: "service_bot_build_info",
      help: "Always 1; the labels describe the bot.",
      labelNames: ["version", "store", "delivery"],
      registers: [registry],
    }).set({ version: version(), store: database.kind, delivery }, 1);
    this.#gauges = rowsOf(sources).map((row) => ({
      row,
      gauge: new Gauge({
        name: `service_bot_${row.name}`,
        help: row.help,
        labelNames: row.label === undefined ? [] : [row.label],
        registers: [registry],
      }),
    }));
  }

  /** Resolves to `undefined` unless all of the store responds in time. */
  async sample(): Promise<StoreSample | undefined> {
    let cancel: () => void = () => undefined;
    const late = new Promise<undefined>((resolve) => {
      // Use the system clock, because a scrape must end even if a test has stopped the bot's clock.
      const timer = setTimeout(resolve, STORE_TIMEOUT_MS, undefined);
      cancel = () => clearTimeout(timer);
    });
    const sample = await Promise.race([this.#store.get(), late]).finally(cancel);
    const { shared } = this.#sources.inbox;
    const isWhole = sample?.measures && (shared === undefined || sample.shared);
    return isWhole ? sample : undefined;
  }

  update(sample: StoreSample | undefined): void {
    const isReady = this.#sources.isStarted() && sample !== undefined;
    const status = statusOf(this.#sources, isReady, sample);
    for (const { row, gauge } of this.#gauges) {
      const value = row.read({ status, sources: this.#sources, disk: sample?.measures?.disk });
      if (typeof value === "number") gauge.set(value);
      else if (row.label !== undefined) {
        for (const [key, one] of Object.entries(value ?? {})) gauge.set({ [row.label]: key }, one);
      }
    }
  }
}

function rowsOf({ poller, inbox, client }: GaugeSources): Row[] {
  return [
    ...botRows,
    ...rowsIn("inbox", inboxMeasures),
    ...rowsIn("store", storeMeasures),
    ...rowsIn("loopGuard", loopGuardMeasures),
    ...(poller === undefined ? [] : logRows),
    ...(client.requests === undefined ? [] : rowsIn("requests", requestMeasures)),
    ...(inbox.capabilities.guardsDisk ? [...fileRows, ...rowsIn("store", diskMeasures)] : []),
  ];
}

const botRows: readonly Row[] = [
  {
    name: "ready",
    help: "1 while /readyz returns 200.",
    read: ({ status }) => Number(status.ready),
  },
  {
    name: "handlers_running",
    help: "Lanes being handled now.",
    read: ({ sources }) => sources.dispatcher.running,
  },
  {
    name: "handlers_limit",
    help: "Limit on lanes handled at once.",
    read: ({ sources }) => sources.config.concurrency,
  },
  {
    name: "last_delivery_timestamp_seconds",
    help: "Time of the last stored delivery, on any instance; 0 if none.",
    read: ({ status }) => (status.lastDeliveryAt ?? 0) / 1000,
  },
  {
    name: "instances",
    help: "Live instances.",
    read: ({ status, sources }) =>
      sources.inbox.shared === undefined ? 1 : (status.instances?.list.length ?? Number.NaN),
  },
  {
    name: "clock_skew_seconds",
    help: "How far this machine's clock is ahead of the platform's Date header.",
    read: ({ status }) => (status.platform.clockSkewMs ?? Number.NaN) / 1000,
  },
  {
    name: "mode",
    help: "1 for the current mode.",
    label: "mode",
    read: ({ status }) => ({ auditing: 0, polling: 0, webhook: 0, [status.mode]: 1 }),
  },
];

const leads = ({ poller }: GaugeSources) => Number(poller?.leads === true);

/** Gauges of a bot that reads the event log. */
const logRows: readonly Row[] = [
  {
    name: "log_lag_seconds",
    help: "Time since the last complete read of the event log, or since startup if none.",
    read: ({ status: { at, log }, sources }) =>
      (log?.lagMs ?? Math.max(0, at - sources.startedAt)) / 1000,
  },
  {
    name: "log_interval_seconds",
    help: "Interval between reads in the current mode.",
    read: ({ status, sources: { config } }) =>
      (status.mode === "polling" ? config.pollIntervalMs : config.auditIntervalMs) / 1000,
  },
  {
    name: "log_readers",
    help: "Instances that read the event log: 1 or 0.",
    read({ status: { instances }, sources }) {
      if (sources.inbox.shared === undefined) return leads(sources);
      if (instances === undefined) return Number.NaN;
      return Number(instances.poller?.holder !== undefined);
    },
  },
  {
    name: "log_reader",
    help: "1 if this instance reads the event log.",
    read: ({ sources }) => leads(sources),
  },
];

const fileRows: readonly Row[] = [
  {
    name: "store_file_lost",
    help: "1 while the inbox's files are not at their paths, so the bot stores nothing.",
    read: ({ status }) => Number(status.inboxProblem !== undefined),
  },
  {
    name: "store_size_bytes",
    help: "Size of the database file and its WAL.",
    label: "file",
    read: ({ disk }) => ({
      database: disk?.database ?? Number.NaN,
      wal: disk?.wal ?? Number.NaN,
    }),
  },
];
