import { expect, test } from "vitest";
import { NetworkError } from "../faces/client.ts";
import type { Step } from "../faces/steps.ts";
import { message } from "../support/inbox-events.ts";
import { gate, harness } from "./harness.ts";

const IN_FLIGHT = 11_000;
const silence = new NetworkError("API_TIMEOUT", "no answer", { sent: true });

test("an event whose call may still be under way keeps no other one waiting, and does not count", async () => {
  let searches = 0;
  const step: Step<string> = {
    name: "reply/1",
    run: () => Promise.reject(silence),
    repeatable: false,
    search: {
      request: () => "hi",
      find: async () => {
        searches += 1;
        const same = searches < 3 ? [] : [{ result: "m_1", ref: "m_1" }];
        return { same, others: [], isComplete: true };
      },
      inFlightMs: IN_FLIGHT,
    },
  };
  const attempts: number[] = [];
  const healthy = gate();
  const { inbox, clock, dispatcher, failures } = harness(
    async ({ event, claim: { attempt }, steps }) => {
      if (event.id !== "1") return void healthy.pass();
      attempts.push(attempt);
      await steps.run(step);
    },
    { concurrency: 1, maxAttempts: 1 },
  );
  await inbox.put([message("1", "a")], "webhook");
  await dispatcher.idle();
  await clock.advance(500);
  await inbox.put([message("2", "b")], "webhook");
  await healthy.entered;
  expect(failures).toMatchObject([silence, { code: "RETRY_LATER", delayMs: 2_500 }]);
  await clock.advance(2_500);
  await dispatcher.idle();
  expect(failures.at(-1)).toMatchObject({ code: "RETRY_LATER", delayMs: IN_FLIGHT - 3_000 });
  await clock.advance(IN_FLIGHT - 3_000);
  await dispatcher.idle();
  expect(attempts).toEqual([1, 1, 1, 1]);
  expect(await inbox.stats()).toMatchObject({ dead: 0, pending: 0 });
});
