import { expect, test } from "vitest";
import { RequestBudget } from "../faces/client.ts";
import { SharedPlaces } from "../faces/instances.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { mulberry32 } from "../support/mulberry32.ts";
import { running, twoInboxes } from "./support.ts";

const SEED = Number(process.env["SEED"] ?? 20261121);
const START = 1_800_000_000_000;
const MINUTE = 60_000;

async function twoBudgets(perMinute: number) {
  const clock = new ManualClock(START);
  const inboxes = await twoInboxes(clock);
  const underWay = new Set<Promise<unknown>>();
  const watched = async <T>(answer: Promise<T>): Promise<T> => {
    underWay.add(answer);
    return await answer.finally(() => underWay.delete(answer));
  };
  const make = async ({ shared: { budget } }: (typeof inboxes)[number]) => {
    const places = await running(
      new SharedPlaces({
        shared: {
          budget: {
            prepare: (total) => watched(budget.prepare(total)),
            take: (...wanted) => watched(budget.take(...wanted)),
            settle: (settled) => watched(budget.settle(settled)),
          },
        },
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
  /** Lets time pass, and then whatever the database was asked be answered: how long that takes is no time of this clock. */
  const pass = async (ms: number) => {
    await clock.advance(ms);
    await Promise.all(inboxes.map((inbox) => inbox.ping()));
    while (underWay.size > 0) await Promise.allSettled([...underWay]);
  };
  /** Lets time pass until this is settled, in steps of so many milliseconds. */
  const passing = async <T>(work: Promise<T>, ms: number): Promise<T> => {
    let settled = false;
    const end = () => {
      settled = true;
    };
    work.then(end, end);
    while (!settled) await pass(ms);
    return await work;
  };
  return { clock, budgets, pass, passing };
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
  while (clock.now() < START + 4 * MINUTE) await pass(500);
  stopped = true;
  for (const { at } of sent) {
    const minute = sent.filter((other) => other.at >= at && other.at < at + MINUTE);
    expect(minute.length).toBeLessThanOrEqual(perMinute);
  }
  // A place is held for up to two seconds of its request besides the minute, and heard of a little later.
  expect(sent.length).toBeGreaterThanOrEqual(perMinute * 3);
  for (const by of [0, 1]) expect(sent.filter((one) => one.by === by).length).toBeGreaterThan(3);
});

test("what one instance has used up is used up for the other", async () => {
  const { budgets, pass, passing } = await twoBudgets(5);
  for (let i = 0; i < 5; i++) (await passing(budgets[0].take("write"), 0)).end();
  await pass(2_500);
  const refused = budgets[1].take("write").catch((error: { code?: string }) => error.code);
  expect(await passing(refused, 250)).toBe("API_BUDGET_SPENT");
});

test("what an instance has at hand and does not use is the other's soon", async () => {
  const { clock, budgets, pass, passing } = await twoBudgets(5);
  const held = await passing(budgets[0].take("write"), 0);
  held.giveBack();
  const given = clock.now();
  await pass(2_000);
  const places = Promise.all(Array.from({ length: 5 }, () => budgets[1].take("audit")));
  await passing(places, 250);
  expect(clock.now() - given).toBeLessThan(10_000);
});
