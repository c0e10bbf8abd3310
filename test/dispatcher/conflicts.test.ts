import { expect, test } from "vitest";
import { Conflicts } from "../faces/dispatcher.ts";
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
