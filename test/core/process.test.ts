import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { exitOnSignals, type ProcessLike } from "../../src/core/process.ts";
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

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  test("stops, and only then exits with 0", async () => {
    const process = new FakeProcess();
    const stopped = Promise.withResolvers<void>();
    exitOnSignals(() => stopped.promise, process);
    process.emit(signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.codes).toEqual([]);
    stopped.resolve();
    expect(await process.exited).toBe(0);
  });

  test("exits with 1 when stopping fails", async () => {
    const process = new FakeProcess();
    exitOnSignals(() => Promise.reject(new Error("stuck")), process);
    process.emit(signal);
    expect(await process.exited).toBe(1);
  });

  test.each(["SIGTERM", "SIGINT"])("a second signal, %s, exits at once with 1", (second) => {
    const process = new FakeProcess();
    let stops = 0;
    const never = () => {
      stops += 1;
      return new Promise<void>(() => undefined);
    };
    exitOnSignals(never, process);
    process.emit(signal);
    expect(process.codes).toEqual([]);
    process.emit(second);
    expect(process.codes).toEqual([1]);
    expect(stops).toBe(1);
  });
});

test("what is returned takes the listeners off, and no others", () => {
  const process = new FakeProcess();
  process.on("SIGTERM", () => undefined);
  const off = exitOnSignals(() => Promise.resolve(), process);
  expect([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]).toEqual([2, 1]);
  off();
  expect([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")]).toEqual([1, 0]);
});

test("nothing happens without a signal", () => {
  const process = new FakeProcess();
  exitOnSignals(() => Promise.reject(new Error("never called")), process);
  process.emit("SIGHUP");
  expect(process.codes).toEqual([]);
});

describe("work that nothing else keeps the process alive for", () => {
  const ended = async (work: string) => {
    const module = new URL("../../src/core/process.ts", import.meta.url);
    const code = `
      import { untilEnded } from "${module}";
      const work = new Promise((resolve) => setTimeout(resolve, 50).unref());
      await ${work};`;
    return await new TestProcess(["--input-type=module", "--eval", code]).exited;
  };

  test("comes to its end", async () => {
    expect(await ended("untilEnded(work)")).toMatchObject({ code: 0 });
    expect(await ended("work")).toMatchObject({ code: 13 });
  });
});
