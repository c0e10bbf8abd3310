import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { authorCode, duringEvent, duringWait, validate, type WatchedRun } from "../faces/core.ts";
import { ContextTasks, contextCall } from "../faces/router.ts";
import { watching } from "../support/manual-watch.ts";

describe("a function of the author that blocks", () => {
  test("is named with its run", async () => {
    const { run, compute, tick, reported } = watching();
    await duringEvent(run("a"), () => authorCode('on("mention")', () => compute(1_500)));
    tick();
    expect(reported()).toEqual([{ ms: 1_500, isCertain: true, suspects: ['a on("mention")'] }]);
  });

  test("for less than a second is not reported", async () => {
    const { run, compute, tick, reported } = watching();
    await duringEvent(run("a"), () => authorCode("use()", () => compute(999)));
    tick();
    expect(reported()).toEqual([]);
  });

  test("is named even if it throws", async () => {
    const { run, compute, reported } = watching();
    const failing = duringEvent(run("a"), () =>
      authorCode("use()", () => {
        compute(1_500);
        throw new Error("broken");
      }),
    );
    await expect(failing).rejects.toThrow("broken");
    expect(reported()).toMatchObject([{ suspects: ["a use()"] }]);
  });

  test("inside another one is named alone", async () => {
    const { run, compute, reported } = watching();
    await duringEvent(run("a"), () =>
      authorCode("use()", () => {
        compute(900);
        return authorCode('on("mention")', () => compute(2_000));
      }),
    );
    expect(reported()).toMatchObject([{ ms: 2_000, suspects: ['a on("mention")'] }]);
  });

  test("is named besides one inside it that blocks as well", async () => {
    const { run, compute, reported } = watching();
    await duringEvent(run("a"), () =>
      authorCode("use()", () => {
        compute(1_200);
        void authorCode('on("mention")', () => compute(2_000));
      }),
    );
    expect(reported()).toMatchObject([
      { ms: 2_000, suspects: ['a on("mention")'] },
      { ms: 1_200, suspects: ["a use()"] },
    ]);
  });

  test("that is a schema is named", async () => {
    const { run, compute, reported } = watching();
    const check = (value: unknown) => {
      compute(1_500);
      return { value };
    };
    const schema = { "~standard": { version: 1, vendor: "test", validate: check } } as const;
    await duringEvent(run("a"), () => validate(schema, "x"));
    expect(reported()).toMatchObject([{ suspects: ["a schema"] }]);
  });

  test("after a call to the context is named with its run", async () => {
    const { run, compute, reported } = watching();
    const [a, b] = [run("a"), run("b")];
    const resolved = (of: WatchedRun, work: () => void) =>
      duringEvent(of, () => authorCode("handler", () => called().then(work)));
    await Promise.all([resolved(b, () => undefined), resolved(a, () => compute(1_500))]);
    expect(reported()).toEqual([{ ms: 1_500, isCertain: true, suspects: ["a handler"] }]);
  });

  test("after an awaited call to the context is named with its run", async () => {
    const { run, compute, reported } = watching();
    const handle = (of: WatchedRun, ms: number) =>
      duringEvent(of, () =>
        authorCode("handler", async () => {
          await called();
          compute(ms);
        }),
      );
    await Promise.all([handle(run("b"), 10), handle(run("a"), 1_500), handle(run("c"), 10)]);
    expect(reported()).toEqual([{ ms: 1_500, isCertain: true, suspects: ["a handler"] }]);
  });
});

/** A call to the context. */
function called(): Promise<void> {
  return new ContextTasks().start(() => setImmediate());
}

/** Runs a handler that ends with the returned function. */
function handling(run: WatchedRun, name = "handler"): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = duringEvent(run, () => authorCode(name, () => promise));
  return async () => {
    resolve();
    await ended;
  };
}

const never = () => new Promise<never>(() => undefined);

describe("a process that did not run", () => {
  test("is blamed on nothing", () => {
    const { run, wait, tick, reported } = watching();
    handling(run("a"));
    tick();
    wait(60_000);
    tick();
    expect(reported()).toEqual([]);
  });

  test("is blamed on nothing if it was stopped after it had run for a part of the time", () => {
    const { watch, run, compute, wait, tick, reported } = watching();
    handling(run("a"));
    tick();
    compute(500);
    wait(1_000);
    watch.noteContinued();
    tick();
    expect(reported()).toEqual([]);
  });

  test("in the middle of a function is blamed on nothing if it was stopped", async () => {
    const { watch, run, wait, tick, reported } = watching();
    await duringEvent(run("a"), () => authorCode("use()", () => wait(5_000)));
    watch.noteContinued();
    tick();
    expect(reported()).toEqual([]);
  });

  test("in the middle of a function is blamed on that function if it was not stopped", async () => {
    const { run, wait, tick, reported } = watching();
    await duringEvent(run("a"), () => authorCode("use()", () => wait(5_000)));
    tick();
    expect(reported()).toEqual([{ ms: 5_000, isCertain: true, suspects: ["a use()"] }]);
  });
});

test("a block on a busy machine, where the process gets a part of the CPU time, is reported", () => {
  const { run, compute, wait, tick, reported } = watching();
  handling(run("a"));
  tick();
  compute(500);
  wait(1_000);
  tick();
  expect(reported()).toEqual([{ ms: 1_500, isCertain: false, suspects: ["a handler"] }]);
});

describe("a block after a promise of the author's own", () => {
  test("may have any run that was busy for as long, and no other", async () => {
    const { run, compute, tick, reported } = watching();
    for (const name of ["a", "b"]) handling(run(name));
    const end = handling(run("ended"));
    const wait = () => new ContextTasks().start(never);
    void duringEvent(run("waiting"), () => authorCode("handler", wait));
    void duringEvent(run("reading"), () => authorCode("handler", () => contextCall(never)));
    compute(10);
    await end();
    tick();
    compute(2_000);
    handling(run("young"));
    tick();
    expect(reported()).toEqual([
      { ms: 2_000, isCertain: false, suspects: ["a handler", "b handler"] },
    ]);
  });

  test("may have a run that ended or began to wait in the same turn", async () => {
    const { run, compute, tick, reported } = watching();
    const a = handling(run("a"));
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = duringEvent(run("b"), () =>
      authorCode("handler", async () => {
        await promise;
        await duringWait(never);
      }),
    );
    tick();
    compute(2_000);
    await a();
    resolve();
    await Promise.race([waiting, setImmediate()]);
    tick();
    expect(reported()).toMatchObject([{ suspects: ["a handler", "b handler"] }]);
    compute(2_000);
    tick();
    expect(reported()).toMatchObject([{}, { isCertain: false, suspects: [] }]);
  });

  test("may have the inner function, or the outer one once it has ended", async () => {
    const { run, compute, tick, reported } = watching();
    const { promise, resolve } = Promise.withResolvers<void>();
    void duringEvent(run("a"), () =>
      authorCode("use()", async () => {
        await authorCode('on("mention")', () => promise);
        await never();
      }),
    );
    compute(2_000);
    tick();
    resolve();
    await setImmediate();
    compute(2_000);
    tick();
    expect(reported()).toMatchObject([
      { suspects: ['a on("mention")'] },
      { suspects: ['a on("mention")', "a use()"] },
    ]);
  });

  test("may have many runs that were busy for a short time, of which one is named", async () => {
    const { run, compute, tick, reported } = watching();
    tick();
    for (let times = 0; times < 10; times++) {
      await duringEvent(run(`${times}`), () => authorCode("handler", () => compute(150)));
    }
    tick();
    expect(reported()).toEqual([{ ms: 1_500, isCertain: false, suspects: ["0 handler"] }]);
  });

  test("cannot be in a run that waits for one of several calls", async () => {
    const { run, compute, tick, reported } = watching();
    const tasks = new ContextTasks();
    const calls = () => Promise.all([tasks.start(() => setImmediate()), tasks.start(never)]);
    void duringEvent(run("a"), () => authorCode("handler", calls));
    await called();
    tick();
    compute(2_000);
    tick();
    expect(reported()).toMatchObject([{ suspects: [] }]);
  });

  test("may be in the function of a step", () => {
    const { run, compute, tick, reported } = watching();
    void duringEvent(run("a"), () =>
      authorCode("handler", () => duringWait(() => authorCode(undefined, never))),
    );
    tick();
    compute(2_000);
    tick();
    expect(reported()).toMatchObject([{ suspects: ["a handler"] }]);
  });

  test("has a certain cause the next time", async () => {
    const { run, compute, tick, reported } = watching();
    const handle = (id: string, ms: number) =>
      duringEvent(run(id), () =>
        authorCode("handler", async () => {
          await setImmediate();
          compute(ms);
          await setImmediate();
          tick();
        }),
      );
    await Promise.all([handle("a", 1_500), handle("b", 0)]);
    expect(reported()).toMatchObject([{ isCertain: false, suspects: ["a handler", "b handler"] }]);
    await Promise.all([handle("b", 0), handle("a", 1_500)]);
    expect(reported()).toMatchObject([
      { isCertain: false },
      { isCertain: true, ms: 1_500, suspects: ["a handler"] },
    ]);
  });

  test("has a certain cause the next time even if the handler seemed to wait for a call", async () => {
    const { run, compute, tick, reported } = watching();
    const block = () =>
      duringEvent(run("a"), () =>
        authorCode("handler", async () => {
          void new ContextTasks().start(never);
          await setImmediate();
          compute(1_500);
          await setImmediate();
          tick();
        }),
      );
    await block();
    await block();
    expect(reported()).toMatchObject([
      { isCertain: false, suspects: [] },
      { isCertain: true, ms: 1_500, suspects: ["a handler"] },
    ]);
  });

  test("has no certain cause again after ten minutes", async () => {
    const { run, compute, tick, reported } = watching();
    const block = () =>
      duringEvent(run("a"), () =>
        authorCode("handler", async () => {
          await setImmediate();
          compute(1_500);
          await setImmediate();
          tick();
        }),
      );
    await block();
    for (let ticks = 0; ticks < 6_100; ticks++) tick();
    await block();
    expect(reported()).toMatchObject([{ isCertain: false }, { isCertain: false }]);
  });
});
