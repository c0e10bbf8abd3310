import { expect, test } from "vitest";
import { ManualClock } from "../../faces/testing.ts";
import { message } from "../../support/inbox-events.ts";
import { hold } from "../../support/postgres/hold.ts";
import { look } from "../../support/postgres/look.ts";
import { emptyPlace, openAt } from "../../support/postgres/open.ts";

const DAY = 86_400_000;

test("a sweep does not wait for an event that another transaction has locked, and drops it the next time", async () => {
  const place = await emptyPlace();
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = await openAt(place, { now: () => clock.now(), clock });
  await inbox.put([message("1", "a"), message("2", "b")], "webhook");
  for (const claim of await inbox.claim(2, 30_000)) await inbox.complete(claim);
  await clock.advance(DAY + 1);
  const sweep = async () => {
    while (await inbox.sweep({ bodiesMs: DAY, idsMs: DAY, deadLettersMs: DAY }));
    return await look(place, `SELECT id FROM ${place.schema}.event`);
  };
  const free = await hold(place, `SELECT FROM ${place.schema}.event WHERE id = '1' FOR UPDATE`);
  expect(await sweep()).toEqual([{ id: "1" }]);
  await free(0);
  expect(await sweep()).toEqual([]);
});
