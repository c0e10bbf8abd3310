import { expect, test } from "vitest";
import { type ConfigOverrides, loadConfig, warnOfBudget } from "./faces/bot.ts";
import { type LogRecord, logSink } from "./support/log.ts";

function warnings(options: ConfigOverrides): readonly LogRecord[] {
  const sink = logSink();
  const config = loadConfig(
    {},
    { baseUrl: "http://p.test", apiKey: "k", webhookSecret: "whsec_of_this_test", ...options },
  );
  warnOfBudget(config, sink.log);
  expect(sink.records.every(({ level }) => level === "warn")).toBe(true);
  return sink.records;
}

const POLLING = {
  ...{ perMinute: 10, places: 7, variable: "POLL_INTERVAL_MS", intervalMs: 4_000, wanted: 15 },
};

test("a budget that is too small for the interval of polling is named, with the numbers", () => {
  expect(warnings({ maxRequestsPerMinute: 10 })).toMatchObject([POLLING]);
  expect(warnings({ maxRequestsPerMinute: 10, delivery: "polling" })).toHaveLength(1);
});

test("so is a budget that is too small for the audits", () => {
  expect(warnings({ maxRequestsPerMinute: 40, auditIntervalMs: 1_000 })).toMatchObject([
    { perMinute: 40, places: 40, variable: "AUDIT_INTERVAL_MS", intervalMs: 1_000, wanted: 60 },
  ]);
});

test.each<ConfigOverrides>([
  {},
  { maxRequestsPerMinute: 20 },
  { maxRequestsPerMinute: 5, delivery: "webhook" },
  { maxRequestsPerMinute: 20, delivery: "polling", auditIntervalMs: 50 },
])("no warning if the budget is sufficient or unlimited: %j", (options) => {
  expect(warnings(options)).toEqual([]);
});
