import { expect, test } from "vitest";
import { CallsInFlight } from "../faces/steps.ts";

test("of 10,001 calls the one remembered first is forgotten, so that they do not pile up", () => {
  const calls = new CallsInFlight();
  for (let i = 0; i <= 10_000; i++) calls.rememberEnd(String(i), "reply/1", i);
  expect(calls.endOf("0", "reply/1")).toBe(Number.POSITIVE_INFINITY);
  expect(calls.endOf("1", "reply/1")).toBe(1);
  expect(calls.endOf("10000", "reply/1")).toBe(10_000);
});

test("a place is free again after a failure, and turns come in order", async () => {
  const calls = new CallsInFlight();
  const order: number[] = [];
  const turns = [1, 2, 3].map((turn) =>
    calls.alone("post:p_1", async () => {
      order.push(turn);
      await Promise.resolve();
      order.push(turn);
      if (turn === 1) throw new Error("failed");
    }),
  );
  const settled = await Promise.allSettled(turns);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual([1, 1, 2, 2, 3, 3]);
});
