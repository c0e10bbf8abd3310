import { expect, test } from "vitest";
import { chooseSeed } from "../faults/random.ts";
import { simulate } from "./simulation/scenario.ts";

const seed = chooseSeed(process.env.SEED ?? "8");

/** The first word of a violation names the broken promise: lost, late takeover, flap, false alarm, over budget, … */
test(`20 schedules of outages break no promise of the poller (SEED=${seed})`, {
  timeout: 120_000,
}, async () => {
  const options = { size: "small", seed, progress: () => undefined } as const;
  const { violations, figures } = await simulate({ schedules: 20, maxHours: 10 }).run(options);
  expect(violations).toEqual([]);
  // Without these events in the runs, the test would prove nothing.
  expect(figures["events"]).toBeGreaterThan(1_000);
  expect(figures["switches"]).toBeGreaterThan(20);
  expect(figures["events that had to lead to a switch"]).toBeGreaterThan(10);
  expect(figures["quiet hours"]).toBeGreaterThan(10);
  expect(figures["of them with DELIVERY=polling"]).toBeGreaterThan(0);
  expect(figures["most of a request budget used in a minute"]).toBe(1);
});
