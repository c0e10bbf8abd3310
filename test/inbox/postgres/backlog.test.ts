import { expect, test } from "vitest";
import { Backlog } from "../../faces/inbox-postgres.ts";

function backlog() {
  const counts: PromiseWithResolvers<number>[] = [];
  const counted = new Backlog(3, () => {
    const count = Promise.withResolvers<number>();
    counts.push(count);
    return count.promise;
  });
  const recount = () => {
    const done = counted.recount();
    return { done, answer: counts[counts.length - 1]?.resolve };
  };
  return { backlog: counted, recount };
}

test("what came while it was counted is not forgotten", async () => {
  const { backlog: counted, recount } = backlog();
  const { done, answer } = recount();
  counted.add(2);
  // The count does not include the new events.
  answer?.(1);
  expect(await done).toBe(1);
  expect(counted.mayBeFull).toBe(true);
});

test("what came during one of two counts is not forgotten, whichever ends last", async () => {
  const { backlog: counted, recount } = backlog();
  const early = recount();
  counted.add(2);
  const late = recount();
  late.answer?.(3);
  await late.done;
  expect(counted.mayBeFull).toBe(true);
  early.answer?.(1);
  await early.done;
  expect(counted.mayBeFull).toBe(true);
});

test("what came or ended before a count is in it, and nothing else is added", async () => {
  const { backlog: counted, recount } = backlog();
  counted.add(3);
  counted.add(-1);
  const { done, answer } = recount();
  counted.add(-1);
  answer?.(2);
  await done;
  expect(counted.mayBeFull).toBe(false);
  counted.add(1);
  expect(counted.mayBeFull).toBe(true);
});
