import { sum } from "../../faults/report.ts";
import type { Outcome, Scenario } from "../../faults/scenario.ts";
import { check, type Findings, takeoverBoundMs } from "./checker.ts";
import { type Requests, requestsOf } from "./requests.ts";
import { drawSchedule, type Schedule } from "./schedule.ts";
import { Simulation } from "./simulation.ts";

export interface SimulationPlan {
  readonly schedules: number;
  /** Seed of a single schedule, as shown in a violation. */
  readonly only?: number | undefined;
  readonly maxHours?: number;
}

interface Run extends Findings {
  readonly schedule: Schedule;
  readonly events: number;
  readonly trimmedUnread: number;
  readonly webhookOutages: number;
  readonly switches: number;
  readonly requests: Requests;
}

/** Runs the poller through outages of the webhook, the bot and the API. The clock jumps from timer to timer. */
export function simulate({ schedules, only, maxHours }: SimulationPlan): Scenario {
  return {
    name: "outages of the webhook, the bot and the API, simulated",
    async run({ seed, progress }): Promise<Outcome> {
      const seeds = only === undefined ? seedsFrom(seed, schedules, maxHours) : [only];
      const runs: Run[] = [];
      const violations: string[] = [];
      for (const one of seeds) {
        const run = await runSchedule(one);
        runs.push(run);
        violations.push(...run.violations.map((text) => `${text} (simulate --only ${one})`));
        if (only !== undefined) progress(JSON.stringify(run.schedule));
        if (runs.length % 500 === 0) progress(`${runs.length} of ${schedules} schedules`);
      }
      return { figures: figuresOf(runs), violations };
    },
  };
}

async function runSchedule(seed: number): Promise<Run> {
  const schedule = drawSchedule(seed);
  const record = await new Simulation(schedule).run();
  const findings = check(record, schedule);
  const requests = requestsOf(record, schedule);
  const { quietExcess } = requests;
  if (quietExcess > 0) findings.violations.push(`needless requests in ${quietExcess} quiet hours`);
  return {
    ...findings,
    schedule,
    events: record.events.length,
    trimmedUnread: record.trimmedUnread.size,
    webhookOutages: record.webhookOutages,
    switches: record.switches,
    requests,
  };
}

function seedsFrom(seed: number, count: number, maxHours = Number.POSITIVE_INFINITY): number[] {
  const seeds: number[] = [];
  for (let n = 1; seeds.length < count; n++) {
    const one = (Math.imul(n, 0x9e3779b1) ^ seed) >>> 0;
    if (drawSchedule(one).lengthMs <= maxHours * 3_600_000) seeds.push(one);
  }
  return seeds;
}

function figuresOf(runs: readonly Run[]): Record<string, number | string> {
  const total = (of: (run: Run) => number) => sum(runs.map(of));
  const perHour = (count: number, hours: number) => (count / hours).toFixed(1);
  const polling = runs.filter(({ schedule }) => schedule.delivery === "polling").length;
  const free = runs.filter(({ schedule }) => schedule.perMinute === undefined);
  const bound = runs.filter(({ schedule }) => schedule.perMinute !== undefined);
  const quietHours = total(({ requests }) => requests.quietHours);
  const pollingHours = total(({ requests }) => requests.pollingHours);
  return {
    schedules: runs.length,
    "of them with DELIVERY=polling": polling,
    "simulated days": Math.round(total(({ schedule }) => schedule.lengthMs) / 86_400_000),
    events: total(({ events }) => events),
    "webhook outages": total(({ webhookOutages }) => webhookOutages),
    switches: total(({ switches }) => switches),
    "events that had to lead to a switch": total(({ takeovers }) => takeovers),
    "worst takeover": worstTakeover(free),
    "worst takeover where handlers may use up a budget": worstTakeover(bound),
    "events lost": total(({ lost }) => lost),
    "trimmed while the bot or the API was away": total((run) => run.trimmedUnread),
    flaps: total(({ flaps }) => flaps),
    "most of a request budget used in a minute": Math.max(...runs.map((run) => run.budgetUsed)),
    "quiet hours": quietHours,
    "requests an hour, quiet": perHour(
      total(({ requests }) => requests.quiet),
      quietHours,
    ),
    "requests an hour, polling": perHour(
      total(({ requests }) => requests.polling),
      pollingHours,
    ),
  };
}

function worstTakeover(runs: readonly Run[]): string {
  const [worst] = runs.toSorted((a, b) => b.worstTakeover - a.worstTakeover);
  if (worst === undefined) return "none";
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return `${seconds(worst.worstTakeoverMs)} (promised: ${seconds(takeoverBoundMs(worst.schedule))})`;
}
