import { expect, test } from "vitest";
import type { Claim } from "../../../src/inbox/inbox.ts";
import { Backlog } from "../../../src/inbox/postgres/backlog.ts";
import { Endings } from "../../../src/inbox/postgres/endings.ts";
import { Held } from "../../../src/inbox/postgres/held.ts";
import { ManualClock } from "../../../src/testing/manual-clock.ts";
import { gate } from "../../dispatcher/harness.ts";
import { first } from "../../support/first.ts";
import { message } from "../../support/inbox-events.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const LEASE = 30_000;

const claim: Claim = {
  ...{ lane: "a", fence: 1, id: "1", type: "x", body: "{}", source: "webhook" },
  ...{ attempt: 1, crashes: 0, late: false, receivedAt: 0 },
};

/** One that does not know whether it has been given more than it knows of. */
async function inDoubt(): Promise<Held> {
  const held = new Held();
  await held.watch(Promise.reject(new Error("no answer"))).catch(() => undefined);
  held.add(claim);
  return held;
}

test("no lane goes on while others are given back: it would be among them, with a fence that nobody knew", async () => {
  const held = await inDoubt();
  const giving = gate();
  const lanes: unknown[] = [];
  const given = held.giveBack((...columns) => {
    lanes.push(columns);
    return giving.pass();
  });
  const sent: string[] = [];
  const queries = {
    rows: async <Row>(text: string): Promise<Row[]> => {
      sent.push(text);
      return [];
    },
  };
  const backlog = new Backlog(10, async () => 0);
  const onLetGo = () => undefined;
  const endings = new Endings({ queries, owner: "me", held, backlog, onLetGo });
  const advancing = endings.advance(claim);
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(lanes).toEqual([[["a"], [1]]]);
  expect(sent).toEqual([]);
  giving.open();
  await given;
  expect(await advancing).toEqual({ held: false });
  expect(sent).not.toEqual([]);
});

test("what fails while lanes are given back leaves the doubt, and holds nothing up", async () => {
  const held = await inDoubt();
  const failed = new Error("no answer");
  await expect(held.giveBack(() => Promise.reject(failed))).rejects.toBe(failed);
  await held.settled();
  let again = 0;
  const giveBack = () =>
    held.giveBack(async () => {
      again += 1;
    });
  await giveBack();
  await giveBack();
  expect(again).toBe(1);
});

test("a lane that is going on is left alone, whatever its fence is by now", async () => {
  const held = await inDoubt();
  held.beginAdvance(claim);
  const fences: unknown[] = [];
  await held.giveBack(async (...columns) => fences.push(columns));
  expect(fences).toEqual([[["a"], [null]]]);
});

test("a lane whose lease was not extended is not known any more", async () => {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const kept: unknown[] = [];
  const onStatement = (text: string, values: readonly unknown[]) => {
    if (text.includes("known (key, fence)")) kept.push(values.slice(1));
  };
  const options = { now: () => clock.now(), clock };
  const one = await openAt(place, { ...options, onStatement });
  const other = await openAt(place, options);
  await one.put([message("1", "a"), message("2", "b")], "webhook");
  const lost = first(await one.claim(1, LEASE));
  const mine = first(await one.claim(1, 2 * LEASE));
  await clock.advance(LEASE);
  expect(await other.claim(1, LEASE)).toMatchObject([{ lane: lost.lane }]);
  expect(await one.extend([lost, mine], LEASE)).toEqual([mine]);
  // A result that is dropped makes it look for what it does not know of.
  expect(await one.complete({ ...lost, lane: "another" })).toBe(false);
  await one.claim(1, LEASE);
  expect(kept).toEqual([[[mine.lane], [mine.fence]]]);
});
