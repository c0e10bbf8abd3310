import { expect, test } from "vitest";
import { RequestBudget } from "../../src/client/budget.ts";
import { SharedPlaces } from "../../src/instances/shared-places.ts";
import { ManualClock } from "../../src/testing/manual-clock.ts";
import { logSink } from "../support/log.ts";
import { mulberry32 } from "../support/mulberry32.ts";
import { running, twoInboxes } from "./support.ts";

const SEED = Number(process.env["SEED"] ?? 20261121);
const START = 1_800_000_000_000;
const MINUTE = 60_000;

async function twoBudgets(perMinute: number) {
  const clock = new ManualClock(START);
  const inboxes = await twoInboxes(clock);
  const make = async ({ shared }: (typeof inboxes)[number]) => {
    const places = await running(
      new SharedPlaces({
        shared,
        clock,
        log: logSink().log,
        total: perMinute,
        requestMs: 10_000,
        sharers: () => 2,
      }),
    );
    return new RequestBudget({ perMinute, clock, random: () => 1, places });
  };
  const budgets = [await make(inboxes[0]), await make(inboxes[1])] as const;
  /** Lets time pass, with what is on the network in between. */
  const pass = async (ms: number) => {
    await clock.advance(ms);
    await Promise.all(inboxes.map((inbox) => inbox.ping()));
  };
  return { clock, budgets, pass };
}

test(`two instances send no more than the budget in any minute, and all of it (SEED=${SEED})`, {
  timeout: 120_000,
}, async () => {
  const random = mulberry32(SEED);
  const perMinute = 12;
  const { clock, budgets, pass } = await twoBudgets(perMinute);
  const sent: { readonly at: number; readonly by: number }[] = [];
  let stopped = false;
  const useAll = async (by: number) => {
    while (!stopped) {
      const place = await budgets[by]?.take("audit");
      if (place === undefined) return;
      sent.push({ at: clock.now(), by });
      clock.timer(Math.floor(random() * 2_000), () => place.end());
    }
  };
  void useAll(0);
  void useAll(1);
  while (clock.now() < START + 5 * MINUTE) await pass(250);
  stopped = true;
  for (const { at } of sent) {
    const minute = sent.filter((other) => other.at >= at && other.at < at + MINUTE);
    expect(minute.length).toBeLessThanOrEqual(perMinute);
  }
  // A place is held for up to two seconds of its request besides the minute, and heard of a little later.
  expect(sent.length).toBeGreaterThanOrEqual(perMinute * 4);
  for (const by of [0, 1]) expect(sent.filter((one) => one.by === by).length).toBeGreaterThan(3);
});

test("what one instance has used up is used up for the other", async () => {
  const { budgets, pass } = await twoBudgets(5);
  for (let i = 0; i < 5; i++) {
    const taking = budgets[0].take("write");
    for (let n = 0; n < 20; n++) await pass(0);
    (await taking).end();
  }
  await pass(2_500);
  const refused = budgets[1].take("write").catch((error: { code?: string }) => error.code);
  for (let n = 0; n < 25; n++) await pass(250);
  expect(await refused).toBe("API_BUDGET_SPENT");
});

test("what an instance has at hand and does not use is the other's soon", async () => {
  const { budgets, pass } = await twoBudgets(5);
  const held = budgets[0].take("write");
  for (let n = 0; n < 20; n++) await pass(0);
  (await held).giveBack();
  await pass(2_000);
  await pass(250);
  const places = Promise.all(Array.from({ length: 5 }, () => budgets[1].take("write")));
  for (let n = 0; n < 12; n++) await pass(250);
  expect(await places).toHaveLength(5);
});
