import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { type ProcessLike, ProcessOwners } from "../faces/core.ts";
import { PROCESS_MODULE } from "../faces/files.ts";
import { TestProcess } from "../support/process.ts";

class FakeProcess extends EventEmitter implements ProcessLike {
  readonly codes: number[] = [];
  readonly #exited = Promise.withResolvers<number>();

  get exited(): Promise<number> {
    return this.#exited.promise;
  }

  exit(code: number): void {
    this.codes.push(code);
    this.#exited.resolve(code);
  }
}

function ownersOf(process: ProcessLike, ...stops: readonly (() => Promise<void>)[]): ProcessOwners {
  const owners = new ProcessOwners(process);
  for (const stop of stops) owners.add(stop);
  return owners;
}

const stopsAtOnce = () => Promise.resolve();
const fails = () => Promise.reject(new Error("stuck"));
const never = () => new Promise<void>(() => undefined);

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  test("stops, and only then exits with 0", async () => {
    const process = new FakeProcess();
    const stopped = Promise.withResolvers<void>();
    ownersOf(process, () => stopped.promise);
    process.emit(signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.codes).toEqual([]);
    stopped.resolve();
    expect(await process.exited).toBe(0);
  });

  test("exits after the last of several bots has stopped", async () => {
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

describe("work that nothing else keeps the process alive for", () => {
  const ended = async (work: string) => {
    const code = `
      import { untilEnded } from ${JSON.stringify(PROCESS_MODULE)};
      const work = new Promise((resolve) => setTimeout(resolve, 50).unref());
      await ${work};`;
    return await new TestProcess(["--input-type=module", "--eval", code]).exited;
  };

  test("comes to its end", async () => {
    expect(await ended("untilEnded(work)")).toMatchObject({ code: 0 });
    expect(await ended("work")).toMatchObject({ code: 13 });
  });
});
