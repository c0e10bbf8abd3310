import { expect, test } from "vitest";
import { PendingTasks } from "../faces/router.ts";

const boom = new Error("boom");
const fails = async () => {
  throw boom;
};

test("what was begun without an await is waited for", async () => {
  const tasks = new PendingTasks();
  const gate = Promise.withResolvers<void>();
  let done = false;
  void tasks.start(async () => {
    await gate.promise;
    done = true;
  });
  const settled = tasks.drain();
  gate.resolve();
  await settled;
  expect(done).toBe(true);
});

test("what was begun is waited for even if its failure is caught elsewhere", async () => {
  const tasks = new PendingTasks();
  let done = false;
  const write = tasks.start(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    done = true;
  });
  write.catch(() => undefined);
  await tasks.drain();
  expect(done).toBe(true);
});

test("what is begun while it waits is waited for too", async () => {
  const tasks = new PendingTasks();
  const order: string[] = [];
  void tasks.start(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    void tasks.start(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push("second");
    });
    order.push("first");
  });
  await tasks.drain();
  expect(order).toEqual(["first", "second"]);
});

test("a failure that was not awaited rejects at the end, and is no unhandled rejection", async () => {
  const tasks = new PendingTasks();
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  void tasks.start(fails);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
  await expect(tasks.drain()).rejects.toBe(boom);
});

test("an awaited failure is handled by the caller", async () => {
  const tasks = new PendingTasks();
  await expect(tasks.start(fails)).rejects.toBe(boom);
  await tasks.start(fails).catch(() => undefined);
  await tasks.drain();
});

test("an awaited promise gives its value", async () => {
  const tasks = new PendingTasks();
  expect(await tasks.start(async () => 42)).toBe(42);
  expect(await Promise.all([tasks.start(async () => 1), tasks.start(async () => 2)])).toEqual([
    1, 2,
  ]);
});

test("work that throws before its first await rejects", async () => {
  const tasks = new PendingTasks();
  const broken = (): Promise<never> => {
    throw boom;
  };
  await expect(tasks.start(broken)).rejects.toBe(boom);
});

test("an error carries the line that started the task, once", async () => {
  const error = new Error("late");
  const startedHere = () =>
    new PendingTasks().start(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw error;
    });
  for (let n = 0; n < 2; n++) await expect(startedHere()).rejects.toBe(error);
  expect(error.stack?.match(/at startedHere .*pending-tasks\.test/g)).toHaveLength(1);
});

test("a frozen error stays as it is", async () => {
  const error = Object.freeze(new Error("frozen"));
  await expect(new PendingTasks().start(() => Promise.reject(error))).rejects.toBe(error);
});
