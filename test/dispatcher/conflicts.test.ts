import { tracingChannel } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { Conflicts } from "../faces/dispatcher.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { jobFor } from "../router/support.ts";
import { messages } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";
import { harness } from "./harness.ts";

test("the first repeat comes at once, and later ones wait longer, up to a second", () => {
  const conflicts = new Conflicts({ log: logSink().log, random: () => 0.999 });
  const { claim } = jobFor("follow");
  const waits = Array.from({ length: 12 }, () => conflicts.note(claim));
  expect(waits).toEqual([0, 19, 39, 79, 159, 319, 639, 999, 999, 999, 999, 999]);
  conflicts.forget(claim);
  expect(conflicts.note(claim)).toBe(0);
});

test("an event that is released after a conflict has not failed", async () => {
  const works: unknown[] = [];
  const subscribers = { asyncEnd: (work: unknown) => works.push(work) };
  tracingChannel("service-bot:run").subscribe(subscribers as never);
  onTestFinished(() => void tracingChannel("service-bot:run").unsubscribe(subscribers as never));
  const { inbox, dispatcher } = harness(
    () => {
      throw new Error("broken");
    },
    { maxAttempts: 1 },
  );
  const bury = inbox.bury.bind(inbox);
  inbox.bury = async () => {
    inbox.bury = bury;
    throw new ServiceBotError("STATE_CONFLICT", "Another run changed the state.");
  };
  await inbox.put(messages("1"), "webhook");
  await dispatcher.idle();
  expect(works).toMatchObject([
    { outcome: "release", error: undefined },
    { outcome: "dead", error: { message: "broken" } },
  ]);
});
