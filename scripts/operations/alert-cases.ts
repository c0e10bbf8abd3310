/** Values per minute by metric, in promtool's notation. Labels are in braces. */
export type Series = Readonly<Record<string, string>>;

/** A case of the alerts' tests. */
export interface AlertCase {
  readonly name: string;
  /** Series of one instance. `up` is 1 unless given. */
  readonly series?: Series;
  /** Series by instance, if there are several. */
  readonly instances?: Readonly<Record<string, Series>>;
  /** Alerts that fire, with their severity, by time. An alert stands twice if two of its series fire. */
  readonly firing: Readonly<Record<string, readonly string[]>>;
}

export const alertCases: readonly AlertCase[] = [
  {
    name: "every fault, until two minutes after all are mended",
    instances: {
      bot: {
        service_bot_ready: "0x480 1x10",
        'service_bot_circuit_open{circuit="platform", why="outages"}': "1x480 0x10",
        'service_bot_circuit_open{circuit="token", why="token"}': "1x480 0x10",
        'service_bot_token_refused_total{status="403"}': "0+1x480 480x10",
        service_bot_store_up: "0x480 1x10",
        service_bot_dead_letters: "1x480 0x10",
        'service_bot_mode{mode="polling"}': "1x480 0x10",
        'service_bot_build_info{version="1.0.0", store="sqlite", delivery="auto"}': "1x1500",
        service_bot_clock_skew_seconds: "-120x480 0x10",
        'service_bot_deliveries_total{status="401", code="SIGNATURE_MISMATCH"}': "0+2x480 960x10",
        service_bot_oldest_pending_age_seconds: "0+60x480 0x10",
        service_bot_log_lag_seconds: "0+60x480 1x10",
        service_bot_log_interval_seconds: "60x1500",
        service_bot_log_readers: "0x480 1x10",
        'service_bot_api_held_back_total{code="API_BUDGET_SPENT"}': "0+5x480 2400x10",
        service_bot_loop_guard_holding: "1x480 0x10",
        service_bot_store_disk_free_bytes: "10000000000-10000000x480 20000000000x10",
        service_bot_store_disk_min_free_bytes: "67108864x1500",
        'service_bot_store_size_bytes{file="wal"}': "300000000x480 1000x10",
      },
      "bot-2": {
        service_bot_store_disk_free_bytes: "200000000x480 20000000000x10",
        service_bot_store_disk_min_free_bytes: "67108864x1500",
      },
      "bot-3": { up: "0x480 1x10" },
    },
    firing: {
      "8h": [
        "ServiceBotDown critical",
        "ServiceBotNotReady critical",
        "ServiceBotPlatformDown warning",
        "ServiceBotTokenRefused critical",
        "ServiceBotTokenRefused critical",
        "ServiceBotStoreFailing critical",
        "ServiceBotDeadLetters warning",
        "ServiceBotPolling warning",
        "ServiceBotClockWrong critical",
        "ServiceBotSignaturesRefused critical",
        "ServiceBotBacklogOld warning",
        "ServiceBotLogUnread warning",
        "ServiceBotNobodyReads warning",
        "ServiceBotBudgetSpent warning",
        "ServiceBotLoop warning",
        "ServiceBotDiskFilling critical",
        "ServiceBotDiskFilling warning",
        "ServiceBotWalGrowing warning",
      ],
      "482m": [],
    },
  },
  {
    name: "a bot that does not answer",
    series: { up: "1 0x10" },
    firing: { "4m": ["ServiceBotDown critical"] },
  },
  {
    name: "a bot that disappears from service discovery",
    series: { up: "1 1 _x20" },
    firing: { "15m": ["ServiceBotDown critical"] },
  },
  {
    name: "a bot that is restarted",
    series: { up: "1 0 1x10" },
    firing: { "4m": [] },
  },
  {
    name: "a bot that is not ready",
    series: { service_bot_ready: "1 0x10" },
    firing: { "7m": ["ServiceBotNotReady critical"] },
  },
  {
    name: "a bot that gets ready",
    series: { service_bot_ready: "0 0 0 1x10" },
    firing: { "7m": [] },
  },
  {
    name: "a platform that is down",
    series: { 'service_bot_circuit_open{circuit="platform", why="outages"}': "0 1x10" },
    firing: { "4m": ["ServiceBotPlatformDown warning"] },
  },
  {
    name: "a single operation that is held back",
    series: { 'service_bot_circuit_open{circuit="POST /posts", why="quota"}': "0 1x10" },
    firing: { "4m": [] },
  },
  {
    name: "a token that is refused, until it is accepted again",
    series: {
      'service_bot_circuit_open{circuit="token", why="token"}': "0 0 1x30 0x30",
      'service_bot_token_refused_total{status="401"}': "0 0 1+1x30 31x30",
    },
    firing: {
      "3m": ["ServiceBotTokenRefused critical"],
      "32m": ["ServiceBotTokenRefused critical"],
      "33m": [],
    },
  },
  {
    name: "a token that lacks a scope, again and again",
    series: { 'service_bot_token_refused_total{status="403"}': "1 1 2 3 4x30" },
    firing: { "4m": ["ServiceBotTokenRefused critical"] },
  },
  {
    name: "a single 403 of a proxy",
    series: { 'service_bot_token_refused_total{status="403"}': "1 1 2x30" },
    firing: { "4m": [] },
  },
  {
    name: "a disk that is full",
    series: { 'service_bot_store_failing{reason="disk_full"}': "0 0 1x10" },
    firing: { "5m": ["ServiceBotStoreFailing critical"] },
  },
  {
    name: "a disk below the reserve, without deliveries",
    series: {
      service_bot_store_disk_free_bytes: "60000000x10",
      service_bot_store_disk_min_free_bytes: "67108864x10",
    },
    firing: { "4m": ["ServiceBotStoreFailing critical"] },
  },
  {
    name: "an inbox whose file was removed",
    series: { service_bot_store_file_lost: "0 0 1x3 0x10" },
    firing: { "2m": ["ServiceBotInboxLost critical"], "7m": [] },
  },
  {
    name: "a store that failed for a moment",
    series: { 'service_bot_store_failing{reason="locked"}': "0 1 1 0x10" },
    firing: { "2m": [], "5m": [] },
  },
  {
    name: "a store that fails, until it works again",
    series: { 'service_bot_store_failing{reason="away"}': "0 1x10 0x10" },
    firing: { "4m": ["ServiceBotStoreFailing critical"], "12m": [] },
  },
  {
    name: "a store that does not answer",
    series: { service_bot_store_up: "1 0x10" },
    firing: { "4m": ["ServiceBotStoreFailing critical"] },
  },
  {
    name: "a store that does not answer for a moment",
    series: { service_bot_store_up: "1 0 0 1x10" },
    firing: { "4m": [] },
  },
  {
    name: "a store that answers",
    series: { service_bot_store_up: "1x10" },
    firing: { "4m": [] },
  },
  {
    name: "a dead letter",
    series: { service_bot_dead_letters: "0 1x10" },
    firing: { "4m": ["ServiceBotDeadLetters warning"] },
  },
  {
    name: "a dead letter that two instances report",
    instances: {
      "bot-0": { service_bot_dead_letters: "0 1x10" },
      "bot-1": { service_bot_dead_letters: "0 1x10" },
    },
    firing: { "4m": ["ServiceBotDeadLetters warning"] },
  },
  {
    name: "a dead letter, and a store that one of two instances cannot reach",
    instances: {
      "bot-0": { service_bot_dead_letters: "0 1x10" },
      "bot-1": { service_bot_dead_letters: "0 NaN NaN NaN NaN NaN NaN" },
    },
    firing: { "4m": ["ServiceBotDeadLetters warning"] },
  },
  {
    name: "a dead letter that was retried, and a store that does not answer",
    series: { service_bot_dead_letters: "1 0 0 NaN NaN NaN NaN NaN NaN NaN NaN" },
    firing: { "6m": [] },
  },
  {
    name: "a webhook that is silent for an hour",
    series: {
      'service_bot_mode{mode="polling"}': "0 1x90",
      'service_bot_build_info{version="1.0.0", store="sqlite", delivery="auto"}': "1x1500",
    },
    firing: { "70m": ["ServiceBotPolling warning"] },
  },
  {
    name: "a webhook that is silent for two instances",
    instances: {
      "bot-0": {
        'service_bot_mode{mode="polling"}': "0 1x90",
        'service_bot_build_info{version="1.0.0", store="postgres", delivery="auto"}': "1x1500",
      },
      "bot-1": {
        'service_bot_mode{mode="polling"}': "0 1x90",
        'service_bot_build_info{version="1.0.0", store="postgres", delivery="auto"}': "1x1500",
      },
    },
    firing: { "70m": ["ServiceBotPolling warning"] },
  },
  {
    name: "a bot with DELIVERY=polling",
    series: {
      'service_bot_mode{mode="polling"}': "1x90",
      'service_bot_build_info{version="1.0.0", store="sqlite", delivery="polling"}': "1x1500",
    },
    firing: { "70m": [] },
  },
  {
    name: "a clock that is two minutes slow",
    series: { service_bot_clock_skew_seconds: "0 -120x10" },
    firing: { "8m": ["ServiceBotClockWrong critical"] },
  },
  {
    name: "a clock that is a second off, and an unknown clock",
    series: { service_bot_clock_skew_seconds: "1x5 NaN NaN NaN NaN NaN NaN NaN NaN" },
    firing: { "8m": [] },
  },
  {
    name: "a secret that is not the portal's",
    series: { 'service_bot_deliveries_total{status="401", code="SIGNATURE_MISMATCH"}': "0+1x20" },
    firing: { "6m": ["ServiceBotSignaturesRefused critical"] },
  },
  {
    name: "a webhook that the platform disabled after refusals, until it delivers again",
    series: {
      'service_bot_deliveries_total{status="401", code="SIGNATURE_MISMATCH"}': "0+2x10 20x60",
      'service_bot_mode{mode="polling"}': "0 0 1x40 0x40",
    },
    firing: { "30m": ["ServiceBotSignaturesRefused critical"], "43m": [] },
  },
  {
    name: "requests without a signature",
    series: { 'service_bot_deliveries_total{status="401", code="SIGNATURE_MISSING"}': "0+1x20" },
    firing: { "6m": [] },
  },
  {
    name: "an event that waits",
    series: { service_bot_oldest_pending_age_seconds: "0+60x40" },
    firing: { "22m": ["ServiceBotBacklogOld warning"] },
  },
  {
    name: "an event that waits for two instances",
    instances: {
      "bot-0": { service_bot_oldest_pending_age_seconds: "0+60x40" },
      "bot-1": { service_bot_oldest_pending_age_seconds: "0+60x40" },
    },
    firing: { "22m": ["ServiceBotBacklogOld warning"] },
  },
  {
    name: "an event that is handled after a while",
    series: { service_bot_oldest_pending_age_seconds: "0+60x17 0x20" },
    firing: { "22m": [] },
  },
  {
    name: "a log that is not read",
    series: { service_bot_log_lag_seconds: "0+60x40", service_bot_log_interval_seconds: "60x40" },
    firing: { "12m": ["ServiceBotLogUnread warning"] },
  },
  {
    name: "a log that neither of two instances reads",
    instances: {
      "bot-0": {
        service_bot_log_lag_seconds: "0+60x40",
        service_bot_log_interval_seconds: "60x40",
      },
      "bot-1": {
        service_bot_log_lag_seconds: "0+60x40",
        service_bot_log_interval_seconds: "60x40",
      },
    },
    firing: { "12m": ["ServiceBotLogUnread warning"] },
  },
  {
    name: "a log that is read every five minutes, as configured",
    series: { service_bot_log_lag_seconds: "300x40", service_bot_log_interval_seconds: "300x40" },
    firing: { "12m": [] },
  },
  {
    name: "a lease without a holder",
    series: { service_bot_log_readers: "1 0x10" },
    firing: { "5m": ["ServiceBotNobodyReads warning"] },
  },
  {
    name: "a lease that neither of two instances holds",
    instances: {
      "bot-0": { service_bot_log_readers: "1 0x10" },
      "bot-1": { service_bot_log_readers: "1 0x10" },
    },
    firing: { "5m": ["ServiceBotNobodyReads warning"] },
  },
  {
    name: "a lease that is handed over, and a store that does not answer",
    series: { service_bot_log_readers: "1 0 1 NaN NaN NaN NaN NaN NaN NaN NaN" },
    firing: { "6m": [] },
  },
  {
    name: "a budget that is never enough",
    series: { 'service_bot_api_held_back_total{code="API_BUDGET_SPENT"}': "0+5x60" },
    firing: { "40m": ["ServiceBotBudgetSpent warning"] },
  },
  {
    name: "a budget that was spent in one busy minute",
    series: { 'service_bot_api_held_back_total{code="API_BUDGET_SPENT"}': "0 5x60" },
    firing: { "40m": [] },
  },
  {
    name: "two bots that reply to each other, until one stops",
    series: { service_bot_loop_guard_holding: "0 1x10 0x10" },
    firing: { "7m": ["ServiceBotLoop warning"], "12m": [] },
  },
  {
    name: "a user who writes a lot for a minute",
    series: { service_bot_loop_guard_holding: "0 1 1 0x10" },
    firing: { "8m": [] },
  },
  {
    name: "a disk with little left",
    series: {
      service_bot_store_disk_free_bytes: "200000000x90",
      service_bot_store_disk_min_free_bytes: "67108864x1500",
    },
    firing: { "10m": ["ServiceBotDiskFilling critical"] },
  },
  {
    name: "a disk with enough",
    series: {
      service_bot_store_disk_free_bytes: "10000000000x90",
      service_bot_store_disk_min_free_bytes: "67108864x1500",
    },
    firing: { "10m": [] },
  },
  {
    name: "a disk that is full tomorrow",
    series: {
      service_bot_store_disk_free_bytes: "10000000000-10000000x480",
      service_bot_store_disk_min_free_bytes: "67108864x1500",
    },
    firing: { "8h": ["ServiceBotDiskFilling warning"] },
  },
  {
    name: "a disk that fills within a year",
    series: {
      service_bot_store_disk_free_bytes: "10000000000-10000x480",
      service_bot_store_disk_min_free_bytes: "67108864x1500",
    },
    firing: { "8h": [] },
  },
  {
    name: "a reader that keeps its transaction open",
    series: { 'service_bot_store_size_bytes{file="wal"}': "300000000x40" },
    firing: { "20m": ["ServiceBotWalGrowing warning"] },
  },
  {
    name: "a WAL of the usual size",
    series: { 'service_bot_store_size_bytes{file="wal"}': "67108864x40" },
    firing: { "20m": [] },
  },
];
