import { check, type Findings } from "./checker.ts";
import { type Requests, requestsOf } from "./requests.ts";
import { drawSchedule, type Schedule } from "./schedule.ts";
import { Simulation } from "./simulation.ts";

/** What came of one schedule. */
export interface Outcome extends Findings {
  readonly schedule: Schedule;
  readonly days: number;
  readonly events: number;
  readonly trimmedUnread: number;
  readonly webhookOutages: number;
  readonly switches: number;
  readonly requests: Requests;
}

export async function runSchedule(seed: number): Promise<Outcome> {
  const schedule = drawSchedule(seed);
  const record = await new Simulation(schedule).run();
  const findings = check(record, schedule);
  const requests = requestsOf(record, schedule);
  const { quietExcess } = requests;
  if (quietExcess > 0) findings.violations.push(`needless requests in ${quietExcess} quiet hours`);
  return {
    ...findings,
    schedule,
    days: schedule.lengthMs / 86_400_000,
    events: record.events.length,
    trimmedUnread: record.trimmedUnread.size,
    webhookOutages: record.webhookOutages,
    switches: record.switches,
    requests,
  };
}

/** The seeds of a run, all from one. */
export function seedsFrom(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => (Math.imul(at + 1, 0x9e3779b1) ^ seed) >>> 0);
}
