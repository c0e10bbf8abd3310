import { takeoverBoundMs } from "./checker.ts";
import type { Outcome } from "./run.ts";

/** Markdown: one row a figure. */
export function table(outcomes: readonly Outcome[]): string {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, one) => all + of(one), 0);
  const quiet = sum(({ requests }) => requests.quiet) / sum(({ requests }) => requests.quietHours);
  const polling =
    sum(({ requests }) => requests.polling) / sum(({ requests }) => requests.pollingHours);
  const free = outcomes.filter(({ schedule }) => schedule.perMinute === undefined);
  const bound = outcomes.filter(({ schedule }) => schedule.perMinute !== undefined);
  const budgetUsed = Math.max(...outcomes.map((one) => one.budgetUsed));
  const rows: [string, string][] = [
    ["schedules", count(outcomes.length)],
    ["simulated days", count(sum(({ days }) => days))],
    ["events", count(sum(({ events }) => events))],
    ["webhook outages", count(sum(({ webhookOutages }) => webhookOutages))],
    ["switches", count(sum(({ switches }) => switches))],
    ["events that had to lead to a switch", count(sum(({ takeovers }) => takeovers))],
    ["worst takeover", worstTakeover(free)],
    ["worst takeover where handlers may use up a budget", worstTakeover(bound)],
    ["events lost", count(sum(({ lost }) => lost))],
    ["trimmed while the bot or the API was away", count(sum((one) => one.trimmedUnread))],
    ["flaps", count(sum(({ flaps }) => flaps))],
    ["most of a request budget used in a minute", `${(100 * budgetUsed).toFixed(0)} %`],
    ["requests an hour, quiet", quiet.toFixed(1)],
    ["requests an hour, polling", polling.toFixed(1)],
    ["violations", count(sum(({ violations }) => violations.length))],
  ];
  const lines = rows.map(([name, value]) => `| ${name} | ${value} |`);
  return ["| figure | value |", "|---|--:|", ...lines].join("\n");
}

function worstTakeover(outcomes: readonly Outcome[]): string {
  const first = outcomes[0];
  if (first === undefined) return "";
  const worst = outcomes.reduce((a, b) => (b.worstTakeover > a.worstTakeover ? b : a), first);
  const allowed = takeoverBoundMs(worst.schedule);
  return `${seconds(worst.worstTakeoverMs)} (promised: ${seconds(allowed)})`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
