import { expect, test } from "vitest";
import { NetworkError } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { message, messages } from "../support/inbox-events.ts";
import { gate, harness } from "./harness.ts";

test("places that are taken are not given again to what arrives later", async () => {
  const gates = new Map(["1", "2", "3"].map((id) => [id, gate()]));
  const running = new Set<string>();
  const { inbox, dispatcher, clock } = harness(
    async ({ event }) => {
      running.add(event.id);
      await gates.get(event.id)?.pass();
      running.delete(event.id);
    },
    { concurrency: 2 },
  );
  await inbox.put([message("1", "a")], "webhook");
  await gates.get("1")?.entered;
  await inbox.put([message("2", "b"), message("3", "c")], "webhook");
  await Promise.race([gates.get("2")?.entered, gates.get("3")?.entered]);
  await clock.advance(0);
  expect(running.size).toBe(2);
  for (const { open } of gates.values()) open();
  await dispatcher.idle();
  expect(await inbox.stats()).toMatchObject({ done: 3 });
});

test("when the bot stops, a running handler gets its grace period", async () => {
  const running = gate();
  const signals: AbortSignal[] = [];
  const { inbox, dispatcher, clock } = harness(async ({ signal }) => {
    signals.push(signal);
    await running.pass();
  });
  await inbox.put(messages("1"), "webhook");
  await running.entered;
  const drained = dispatcher.drain(5_000);
  await clock.advance(4_999);
  expect(signals[0]?.aborted).toBe(false);
  running.open();
  await drained;
  expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
});

test("a handler that ends well only after its time was up has failed all the same", async () => {
  const entered = Promise.withResolvers<void>();
  const { inbox, clock, failures } = harness(
    async ({ signal }) => {
      entered.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    { maxAttempts: 1 },
  );
  await inbox.put(messages("1"), "webhook");
  await entered.promise;
  await clock.advance(60_000);
  expect(failures).toMatchObject([{ code: "HANDLER_TIMEOUT" }]);
  expect(await inbox.stats()).toMatchObject({ done: 0, dead: 1 });
});

test("when the bot stops, nothing that waits begins", async () => {
  const running = gate();
  const seen: string[] = [];
  const { inbox, dispatcher, clock } = harness(async ({ event }) => {
    seen.push(event.id);
    await running.pass();
  });
  await inbox.put([message("1", "a"), message("2", "a")], "webhook");
  await running.entered;
  const drained = dispatcher.drain(5_000);
  await inbox.put([message("3", "b")], "webhook");
  await clock.advance(1_000);
  expect(seen).toEqual(["1"]);
  running.open();
  await drained;
  await clock.advance(1_000);
  expect(seen).toEqual(["1"]);
});

test("an event with a step of unknown outcome is parked, even if an outage is the cause or the handler has wrapped it", async () => {
  const outage = new NetworkError("API_TIMEOUT", "no answer", { sent: true });
  const uncertain = new ServiceBotError("STEP_UNCERTAIN", "look there", { cause: outage });
  const { inbox, dispatcher } = harness(({ event }) => {
    throw event.id === "1" ? uncertain : new Error("the charge failed", { cause: uncertain });
  });
  await inbox.put([message("1", "a"), message("2", "b")], "webhook");
  await dispatcher.idle();
  expect((await deadLetters(inbox)).map(({ id }) => id).sort()).toEqual(["1", "2"]);
});
