import { expect, test } from "vitest";
import { type BotOptions, type ConfigOverrides, loadConfig, logWarnings } from "../faces/bot.ts";
import { Router, routesOf } from "../faces/router.ts";
import { type LogRecord, logSink } from "../support/log.ts";

interface Setup {
  readonly options?: BotOptions;
  readonly config?: ConfigOverrides;
  readonly router?: Router;
  readonly guardsDisk?: boolean;
}

/** Returns the warnings of a bot that starts. `test/router/slow-patterns.test.ts` shows that a start logs them. */
function warnings({
  options = {},
  config,
  router = new Router(),
  guardsDisk = true,
}: Setup): readonly LogRecord[] {
  const sink = logSink();
  logWarnings({
    config: loadConfig(
      {},
      { baseUrl: "https://p.example", apiKey: "k", webhookSecret: "whsec_of_this_test", ...config },
    ),
    options: { env: {}, ...options },
    routes: routesOf(router),
    inbox: { capabilities: { guardsDisk } },
    log: sink.log,
  } as Parameters<typeof logWarnings>[0]);
  expect(sink.records.every(({ level }) => level === "warn")).toBe(true);
  return sink.records;
}

const handler = () => undefined;

const short = new Router()
  .on("mention", handler, { timeoutMs: 2_000 })
  .on("like", handler, { timeoutMs: 2_001 })
  .on("dm.message", handler);

const requestTimeoutMs = 2_000;

const POLLING = {
  perMinute: 10,
  places: 7,
  variable: "POLL_INTERVAL_MS",
  intervalMs: 4_000,
  wanted: 15,
};

const AUDITS = {
  perMinute: 40,
  places: 40,
  variable: "AUDIT_INTERVAL_MS",
  intervalMs: 1_000,
  wanted: 60,
};

const plain = (baseUrl: string): [string, Setup, object] => [
  `a token that leaves the machine over plain http, to ${baseUrl}`,
  { config: { baseUrl } },
  { platform: baseUrl },
];

test.each<[string, Setup, object]>([
  plain("http://platform.example"),
  plain("http://platform:4400"),
  plain("http://10.0.0.5:4400"),
  [
    "a variable that is no longer read",
    { options: { env: { LOG_SAMPLING: "on" } } },
    { variable: "LOG_SAMPLING", remedy: expect.stringContaining("Remove it") },
  ],
  [
    "a limit of the disk, without a local file",
    { options: { minFreeBytes: 1 }, guardsDisk: false },
    {},
  ],
  [
    "handlers whose time ends no later than that of a request",
    { router: short, options: { requestTimeoutMs } },
    { options: ['timeoutMs of "mention"'], requestMs: 2_000 },
  ],
  [
    "handlers in general with too little time",
    { router: short, options: { requestTimeoutMs, handlerTimeoutMs: 2_000 } },
    { options: ["handlerTimeoutMs", 'timeoutMs of "mention"'], requestMs: 2_000 },
  ],
  [
    "handlers with too little time for a request that waits for its budget",
    {
      router: new Router().on("like", handler, { timeoutMs: 7_000 }),
      options: { requestTimeoutMs },
      config: { maxRequestsPerMinute: 60 },
    },
    { options: ['timeoutMs of "like"'], requestMs: 7_000 },
  ],
  ["a budget too small for polling", { config: { maxRequestsPerMinute: 10 } }, POLLING],
  [
    "a budget too small for DELIVERY=polling",
    { config: { maxRequestsPerMinute: 10, delivery: "polling" } },
    POLLING,
  ],
  [
    "a budget too small for audits",
    { config: { maxRequestsPerMinute: 40, auditIntervalMs: 1_000 } },
    AUDITS,
  ],
])("a bot warns once on startup of %s", (_name, setup, warning) => {
  expect(warnings(setup)).toMatchObject([warning]);
});

test.each<[string, Setup]>([
  ["of https", {}],
  ["of plain http on this machine", { config: { baseUrl: "http://127.0.0.1:4401" } }],
  ["of plain http on localhost", { config: { baseUrl: "http://localhost:4401" } }],
  [
    "of handlers with more time than a request and its wait",
    {
      router: new Router().on("like", handler, { timeoutMs: 7_001 }),
      options: { requestTimeoutMs },
      config: { maxRequestsPerMinute: 60 },
    },
  ],
  ["of a sufficient budget", { config: { maxRequestsPerMinute: 20 } }],
  ["of a budget without polling", { config: { maxRequestsPerMinute: 5, delivery: "webhook" } }],
  [
    "of the interval of audits without audits",
    { config: { maxRequestsPerMinute: 20, delivery: "polling", auditIntervalMs: 50 } },
  ],
])("a bot does not warn %s", (_name, setup) => {
  expect(warnings(setup)).toEqual([]);
});
