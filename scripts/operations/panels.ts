/** A panel of the Grafana dashboard. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  /** PromQL by legend. */
  readonly shows: Readonly<Record<string, string>>;
  /** Columns, of 24, and height. Default: 8 and 8; of a stat 4 and 4. */
  readonly size?: readonly [columns: number, height: number];
  readonly isStacked?: boolean;
  /** True if the axis does not begin at 0. */
  readonly mayBeNegative?: boolean;
  /** Shows the last value instead of a graph. */
  readonly stat?: {
    /** Default: green. */
    readonly colour?: string;
    /** Colour from a value on. */
    readonly above?: { readonly color: string; readonly value: number };
    /** `name` shows the legend instead of the value. */
    readonly text?: "auto" | "name";
    /** Texts of the values from 0 on. */
    readonly names?: readonly string[];
  };
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const CHOSEN = 'job=~"$job", instance=~"$instance"';

/** A metric of each chosen instance. */
const each = (metric: string) => `${metric}{${CHOSEN}}`;

/** A metric that is the same on all instances of a job, or differs only for a moment. */
const highest = (metric: string) => `max by (job) (${each(metric)})`;

const perSecond = (metric: string, more: string) =>
  `rate(${metric}{${CHOSEN}${more}}[$__rate_interval])`;

/** A counter per second, by labels. */
const rate = (metric: string, labels: string, condition?: string) =>
  `sum by (${labels}) (${perSecond(metric, condition === undefined ? "" : `, ${condition}`)})`;

/** A quantile of a histogram, by another label if given. */
const quantile = (share: number, metric: string, label?: string) =>
  `histogram_quantile(${share}, sum by (le${label === undefined ? "" : `, ${label}`}) (${perSecond(`${metric}_bucket`, "")}))`;

/** The dashboard's panels. Tests compare them with the exported metrics. */
export const rows: readonly Row[] = [
  {
    title: "At a glance",
    panels: [
      {
        title: "Ready",
        description: "1 while /readyz returns 200.",
        unit: "none",
        shows: { "{{instance}}": each("service_bot_ready") },
        stat: { colour: "red", above: { color: "green", value: 1 }, names: ["no", "yes"] },
      },
      {
        title: "Mode",
        description: "Source of events: webhook with audits, polling, or webhook alone.",
        unit: "none",
        shows: { "{{mode}}": `${each("service_bot_mode")} == 1` },
        stat: { text: "name" },
      },
      {
        title: "Pending events",
        description: "On all instances.",
        unit: "short",
        shows: { "{{job}}": highest("service_bot_events_pending") },
        stat: { above: { color: "orange", value: 1000 } },
      },
      {
        title: "Oldest pending",
        description: "Time since it was received.",
        unit: "s",
        shows: { "{{job}}": highest("service_bot_oldest_pending_age_seconds") },
        stat: { above: { color: "red", value: 900 } },
      },
      {
        title: "Dead letters",
        description: "Run npx service-bot inbox list.",
        unit: "short",
        shows: { "{{job}}": highest("service_bot_dead_letters") },
        stat: { above: { color: "red", value: 1 } },
      },
      {
        title: "Instances",
        description: "Instances that reported in the last 15 seconds.",
        unit: "short",
        shows: { "{{job}}": highest("service_bot_instances") },
        stat: { colour: "red", above: { color: "green", value: 1 } },
      },
    ],
  },
  {
    title: "Deliveries and events",
    panels: [
      {
        title: "Deliveries by answer",
        description: "The platform repeats deliveries that were not answered with 200.",
        unit: "reqps",
        shows: { "{{status}} {{code}}": rate("service_bot_deliveries_total", "status, code") },
        isStacked: true,
      },
      {
        title: "New events by type",
        description: "New events, from either source.",
        unit: "cps",
        shows: { "{{type}}": rate("service_bot_events_total", "type") },
        isStacked: true,
      },
      {
        title: "New events by source",
        description: "From the webhook or the event log. Known events are not stored again.",
        unit: "cps",
        shows: {
          "{{source}}": rate("service_bot_events_total", "source"),
          "repeated, {{source}}": rate("service_bot_events_duplicate_total", "source"),
          "unusable, {{source}}": rate("service_bot_events_unusable_total", "source"),
        },
      },
      {
        title: "Time to answer a delivery",
        description: "From the last byte to the answer, which includes the sync to disk.",
        unit: "s",
        shows: {
          median: quantile(0.5, "service_bot_delivery_duration_seconds"),
          "99 %": quantile(0.99, "service_bot_delivery_duration_seconds"),
        },
      },
      {
        title: "Last delivery",
        description: "A quiet bot has an old one.",
        unit: "dateTimeFromNow",
        shows: {
          "{{instance}}": `${each("service_bot_last_delivery_timestamp_seconds")} * 1000 > 0`,
        },
        size: [8, 8],
        stat: {},
      },
      {
        title: "Backlog",
        description: "Events not handled yet, and dead letters.",
        unit: "short",
        shows: {
          pending: highest("service_bot_events_pending"),
          "dead letters": highest("service_bot_dead_letters"),
        },
      },
    ],
  },
  {
    title: "Handlers",
    panels: [
      {
        title: "Attempts by outcome",
        description:
          "done; retry: failed, retried later; release: put off, not counted; dead: dead letter; lost: another instance has the event; skipped: handed back unstarted.",
        unit: "cps",
        shows: { "{{outcome}}": rate("service_bot_handler_attempts_total", "outcome") },
        isStacked: true,
      },
      {
        title: "Failures by type",
        description: "Failed runs that count as attempts.",
        unit: "cps",
        shows: {
          "{{type}} {{outcome}}": rate(
            "service_bot_handler_attempts_total",
            "type, outcome",
            'outcome=~"retry|dead"',
          ),
        },
      },
      {
        title: "Handler duration by type, 95 %",
        description: "Duration of a run of an event's handlers.",
        unit: "s",
        shows: { "{{type}}": quantile(0.95, "service_bot_handler_duration_seconds", "type") },
      },
      {
        title: "Lanes at work",
        description:
          "Lanes being handled now; conversations and posts held back by the loop guard.",
        unit: "short",
        shows: {
          "{{instance}}": each("service_bot_handlers_running"),
          "CONCURRENCY, {{instance}}": each("service_bot_handlers_limit"),
          "loop guard": each("service_bot_loop_guard_holding"),
        },
      },
      {
        title: "Leases lost",
        description: "Caused by a frozen process or a slow store.",
        unit: "cps",
        shows: { "{{what}}": rate("service_bot_leases_lost_total", "what") },
      },
      {
        title: "Oldest pending event",
        description: "Time since it was received.",
        unit: "s",
        shows: { "{{job}}": highest("service_bot_oldest_pending_age_seconds") },
      },
    ],
  },
  {
    title: "The platform",
    panels: [
      {
        title: "Requests by operation",
        description: "Requests of the bot to the platform.",
        unit: "reqps",
        shows: { "{{operation}}": rate("service_bot_api_requests_total", "operation") },
        isStacked: true,
      },
      {
        title: "Failed requests",
        description: "By error code; status none without an answer.",
        unit: "reqps",
        shows: {
          "{{operation}}: {{status}} {{code}}": rate(
            "service_bot_api_requests_total",
            "operation, status, code",
            'code!="OK"',
          ),
          "not sent: {{code}}": rate("service_bot_api_held_back_total", "code"),
          "token refused: {{status}}": rate("service_bot_token_refused_total", "status"),
        },
      },
      {
        title: "Request duration by operation, 95 %",
        description: "Duration of a request, including its response.",
        unit: "s",
        shows: {
          "{{operation}}": quantile(0.95, "service_bot_api_request_duration_seconds", "operation"),
        },
      },
      {
        title: "Held back",
        description: "1 while the bot pauses requests.",
        unit: "none",
        shows: { "{{circuit}} ({{why}}), {{instance}}": each("service_bot_circuit_open") },
      },
      {
        title: "Request budget",
        description: "With MAX_REQUESTS_PER_MINUTE.",
        unit: "short",
        shows: {
          "left, {{instance}}": each("service_bot_request_budget_left"),
          "waiting, {{instance}}": each("service_bot_request_budget_waiting"),
          "limit, {{instance}}": each("service_bot_request_budget_limit"),
        },
      },
      {
        title: "Clock against the platform's",
        description: "Up to a second is normal. From 300 s on, every delivery is refused.",
        unit: "s",
        shows: { "{{instance}}": each("service_bot_clock_skew_seconds") },
        mayBeNegative: true,
      },
    ],
  },
  {
    title: "The event log",
    panels: [
      {
        title: "Lag",
        description: "Age of the last complete read of the log.",
        unit: "s",
        shows: {
          "{{instance}}": each("service_bot_log_lag_seconds"),
          "interval, {{instance}}": each("service_bot_log_interval_seconds"),
        },
      },
      {
        title: "Reads",
        description: "By error code.",
        unit: "cps",
        shows: { "{{code}}": rate("service_bot_log_reads_total", "code") },
      },
      {
        title: "Reader and switches",
        description: "One instance reads the log. A switch changes between auditing and polling.",
        unit: "short",
        shows: {
          "{{instance}} reads": each("service_bot_log_reader"),
          readers: highest("service_bot_log_readers"),
          "switch to {{to}}": `sum by (to) (increase(${each("service_bot_mode_switches_total")}[$__rate_interval]))`,
        },
      },
    ],
  },
  {
    title: "The store",
    panels: [
      {
        title: "Transactions",
        description: "With SQLite, including the sync to disk.",
        unit: "s",
        shows: {
          median: quantile(0.5, "service_bot_store_transaction_duration_seconds"),
          "99 %": quantile(0.99, "service_bot_store_transaction_duration_seconds"),
        },
      },
      {
        title: "Failures",
        description: "Failures of the store, by reason.",
        unit: "cps",
        shows: {
          "{{reason}}": rate("service_bot_store_failures_total", "reason"),
          "no answer, {{instance}}": `1 - ${each("service_bot_store_up")}`,
          "file lost, {{instance}}": each("service_bot_store_file_lost"),
          "failing: {{reason}}": each("service_bot_store_failing"),
        },
      },
      {
        title: "Size and free space",
        description: "With SQLite.",
        unit: "bytes",
        shows: {
          "{{file}}, {{instance}}": each("service_bot_store_size_bytes"),
          "free, {{instance}}": each("service_bot_store_disk_free_bytes"),
          "minimum, {{instance}}": each("service_bot_store_disk_min_free_bytes"),
        },
      },
    ],
  },
  {
    title: "The process",
    panels: [
      {
        title: "Event loop lag",
        description: "Blocking code delays deliveries.",
        unit: "s",
        shows: {
          "99 %, {{instance}}": each("nodejs_eventloop_lag_p99_seconds"),
          "blocks of over 1 s": `sum(increase(${each("service_bot_event_loop_blocks_total")}[$__rate_interval]))`,
        },
      },
      {
        title: "Memory",
        description: "A plateau is normal; steady growth is not.",
        unit: "bytes",
        shows: {
          "resident, {{instance}}": each("process_resident_memory_bytes"),
          "heap in use, {{instance}}": each("nodejs_heap_size_used_bytes"),
        },
      },
      {
        title: "CPU and open files",
        description: "CPUs in use, open files and sockets.",
        unit: "short",
        shows: {
          "CPUs, {{instance}}": `rate(${each("process_cpu_seconds_total")}[$__rate_interval])`,
          "open files, {{instance}}": each("process_open_fds"),
        },
      },
      {
        title: "Versions",
        description: "Version, store and delivery of each instance.",
        unit: "none",
        shows: { "{{version}}, {{store}}, DELIVERY={{delivery}}": each("service_bot_build_info") },
        size: [24, 4],
        stat: { text: "name" },
      },
    ],
  },
];
