import { beforeAll, describe, expect, test } from "vitest";
import { chooseSeed } from "../faults/random.ts";
import { type Outcome, runSchedule, seedsFrom } from "./simulation/run.ts";

/** `npm run simulate` runs thousands. */
const SCHEDULES = 200;

const seed = chooseSeed(process.env.SEED ?? "20261120");
const outcomes: Outcome[] = [];

beforeAll(async () => {
  for (const one of seedsFrom(seed, SCHEDULES)) outcomes.push(await runSchedule(one));
}, 60_000);

/** What went wrong, with how to run it again. */
function violations(prefix: string): string[] {
  return outcomes.flatMap(({ schedule, violations }) =>
    violations
      .filter((violation) => violation.startsWith(prefix))
      .map((violation) => `npm run simulate -- --only ${schedule.seed}: ${violation}`),
  );
}

const total = (of: (outcome: Outcome) => number) =>
  outcomes.reduce((sum, outcome) => sum + of(outcome), 0);

describe(`in ${SCHEDULES} schedules of outages (SEED=${seed})`, () => {
  test("no event is lost", () => {
    expect(violations("lost")).toEqual([]);
    expect(total(({ events }) => events)).toBeGreaterThan(1_000);
  });

  test("polling takes over within an audit interval and two polls", () => {
    expect(violations("late takeover")).toEqual([]);
    expect(total(({ takeovers }) => takeovers)).toBeGreaterThan(100);
  });

  test("a change costs one switch and not more", () => {
    expect(violations("flap")).toEqual([]);
    expect(total(({ switches }) => switches)).toBeGreaterThan(100);
  });

  test("there is an event missing behind each switch to polling, and none behind polling", () => {
    expect(violations("false alarm")).toEqual([]);
    expect(violations("needless polling")).toEqual([]);
  });

  test("no minute has more requests than the budget, and nobody starves for it", () => {
    expect(violations("over budget")).toEqual([]);
    expect(violations("starved")).toEqual([]);
    expect(Math.max(...outcomes.map(({ budgetUsed }) => budgetUsed))).toBe(1);
  });

  test("with DELIVERY=polling an event is there by the next poll, and nothing switches", () => {
    expect(violations("polled late")).toEqual([]);
    expect(violations("switched")).toEqual([]);
    expect(outcomes.some(({ schedule }) => schedule.delivery === "polling")).toBe(true);
  });

  test("a quiet bot makes no requests but its audits", () => {
    expect(violations("needless requests")).toEqual([]);
    expect(total(({ requests }) => requests.quietHours)).toBeGreaterThan(100);
  });
});
