import { expect, test } from "vitest";
import { systemClock } from "../faces/core.ts";
import { Conflicts, EndedRun, type OutcomeOptions, recordOutcome } from "../faces/dispatcher.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { jobFor } from "../router/support.ts";
import { logSink } from "../support/log.ts";

test("the first repeat comes at once, and later ones wait longer, up to a second", () => {
  const conflicts = new Conflicts({ log: logSink().log, random: () => 0.999 });
  const { claim } = jobFor("follow");
  const waits = Array.from({ length: 12 }, () => conflicts.note(claim));
  expect(waits).toEqual([0, 19, 39, 79, 159, 319, 639, 999, 999, 999, 999, 999]);
  conflicts.forget(claim);
  expect(conflicts.note(claim)).toBe(0);
});

test("an event that is released after a conflict has not failed", async () => {
  const { claim } = jobFor("follow");
  const { log } = logSink();
  const conflict = new ServiceBotError("STATE_CONFLICT", "Another run changed the state.");
  const inbox: Partial<OutcomeOptions["inbox"]> = {
    bury: () => Promise.reject(conflict),
    release: () => Promise.resolve(true),
  };
  const work = { event: claim.id } as NonNullable<EndedRun["work"]>;
  const dead = { outcome: { kind: "dead", error: new Error("broken") } } as const;
  const run = new EndedRun(claim, dead, 1, () => false, work);
  await recordOutcome(run, {
    inbox: inbox as OutcomeOptions["inbox"],
    ...{ clock: systemClock, log, leaseMs: 1_000, scrub: (text) => text },
    conflicts: new Conflicts({ log, random: () => 0 }),
    stopping: new AbortController().signal,
  });
  expect(work).toMatchObject({ outcome: "release", error: undefined });
});
