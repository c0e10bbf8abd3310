import { describe, expect, test } from "vitest";
import { type ProcessLike, ProcessOwners, untilEnded } from "../faces/core.ts";
import { FakeProcess } from "../support/fake-process.ts";

function ownersOf(process: ProcessLike, ...stops: readonly (() => Promise<void>)[]): ProcessOwners {
  const owners = new ProcessOwners(process);
  for (const stop of stops) owners.add(stop);
  return owners;
}

const stopsAtOnce = () => Promise.resolve();
const fails = () => Promise.reject(new Error("stuck"));
const never = () => new Promise<void>(() => undefined);

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  test("stops all bots, and only then exits with 0", async () => {
    const process = new FakeProcess();
    const stopped = Promise.withResolvers<void>();
    ownersOf(process, stopsAtOnce, () => stopped.promise);
    process.emit(signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.codes).toEqual([]);
    stopped.resolve();
    expect(await process.exited).toBe(0);
  });

  test("exits with 1 when stopping one of them fails", async () => {
    const process = new FakeProcess();
    ownersOf(process, fails, stopsAtOnce);
    process.emit(signal);
    expect(await process.exited).toBe(1);
  });

  test.each(["SIGTERM", "SIGINT"])("a second signal, %s, exits at once with 1", (second) => {
    const process = new FakeProcess();
    let stops = 0;
    ownersOf(process, () => {
      stops += 1;
      return never();
    });
    process.emit(signal);
    expect(process.codes).toEqual([]);
    process.emit(second);
    expect(process.codes).toEqual([1]);
    expect(stops).toBe(1);
  });

  test("waits as well for a bot that starts while the others stop", async () => {
    const process = new FakeProcess();
    const stopped = Promise.withResolvers<void>();
    const owners = ownersOf(process, stopsAtOnce);
    process.emit(signal);
    owners.add(() => stopped.promise);
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.codes).toEqual([]);
    stopped.resolve();
    expect(await process.exited).toBe(0);
  });

  test("after a bot had to end is the first signal, and leaves the others their time", async () => {
    const process = new FakeProcess();
    const stopped = Promise.withResolvers<void>();
    const owners = ownersOf(process, () => stopped.promise);
    void owners.end(2);
    process.emit(signal);
    expect(process.codes).toEqual([]);
    stopped.resolve();
    expect(await process.exited).toBe(2);
  });
});

test("the highest exit code of several bots counts", async () => {
  const process = new FakeProcess();
  const owners = ownersOf(process, stopsAtOnce, fails);
  void owners.end(1);
  void owners.end(2);
  expect(await process.exited).toBe(2);
  expect(process.codes).toEqual([2]);
});

test("any number of bots listens to each signal once", () => {
  const process = new FakeProcess();
  ownersOf(process, stopsAtOnce, never, never);
  expect([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]).toEqual([1, 1]);
});

test("nothing happens without a signal", () => {
  const process = new FakeProcess();
  ownersOf(process, fails);
  process.emit("SIGHUP");
  expect(process.codes).toEqual([]);
});

test("unfinished work keeps the process alive, and ended work does not", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const work = Promise.withResolvers<void>();
  const ended = untilEnded(work.promise);
  expect(timers()).toBe(before + 1);
  work.resolve();
  await ended;
  expect(timers()).toBe(before);
});
