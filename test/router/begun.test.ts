import { expect, test } from "vitest";
import { Begun } from "../faces/router.ts";

const boom = new Error("boom");
const fails = async () => {
  throw boom;
};

test("what was begun without an await is waited for", async () => {
  const begun = new Begun();
  const gate = Promise.withResolvers<void>();
  let done = false;
  void begun.add(async () => {
    await gate.promise;
    done = true;
  });
  const settled = begun.settled();
  gate.resolve();
  await settled;
  expect(done).toBe(true);
});

test("what was begun is waited for even if its failure is caught elsewhere", async () => {
  const begun = new Begun();
  let done = false;
  const write = begun.add(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    done = true;
  });
  write.catch(() => undefined);
  await begun.settled();
  expect(done).toBe(true);
});

test("what is begun while it waits is waited for too", async () => {
  const begun = new Begun();
  const order: string[] = [];
  void begun.add(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    void begun.add(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push("second");
    });
    order.push("first");
  });
  await begun.settled();
  expect(order).toEqual(["first", "second"]);
});

test("a failure that nobody has waited for is told at the end, and is no unhandled rejection", async () => {
  const begun = new Begun();
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  void begun.add(fails);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  await expect(begun.settled()).rejects.toBe(boom);
});

test("a failure that was waited for is the business of whoever waited", async () => {
  const begun = new Begun();
  await expect(begun.add(fails)).rejects.toBe(boom);
  await begun.add(fails).catch(() => undefined);
  await begun.settled();
});

test("an awaited promise gives its value", async () => {
  const begun = new Begun();
  expect(await begun.add(async () => 42)).toBe(42);
  expect(await Promise.all([begun.add(async () => 1), begun.add(async () => 2)])).toEqual([1, 2]);
});

test("work that throws before its first await rejects", async () => {
  const begun = new Begun();
  const broken = (): Promise<never> => {
    throw boom;
  };
  await expect(begun.add(broken)).rejects.toBe(boom);
});
