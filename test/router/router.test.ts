import { describe, expect, test, vi } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import { type EventType, eventTypes } from "../faces/events.ts";
import { type Context, type Middleware, Router, routesOf } from "../faces/router.ts";
import { begin, fakeClient, jobFor, run } from "./support.ts";

const { client } = fakeClient();

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("on", () => {
  test.each(eventTypes)("a handler of %s gets events of that type and no others", async (type) => {
    const router = new Router();
    const seen: string[] = [];
    router.on(type, (ctx) => seen.push(ctx.event.type));
    for (const other of eventTypes) await run(router, jobFor(other), client);
    expect(seen).toEqual([type]);
  });

  test("a handler of several types gets each of them", async () => {
    const router = new Router();
    const seen: string[] = [];
    router.on(["mention", "reply"], (ctx) => seen.push(ctx.event.type));
    for (const type of eventTypes) await run(router, jobFor(type), client);
    expect(seen).toEqual(["mention", "reply"]);
    expect(routesOf(router).handledTypes).toEqual(["mention", "reply"]);
  });

  test("types without a handler count as handled with onUnknown, and with middleware alone", () => {
    const pass: Middleware = (_context, next) => next();
    const handlesOtherTypes = (register: (router: Router) => void): boolean => {
      const router = new Router();
      register(router);
      return routesOf(router).handlesOtherTypes;
    };
    expect(handlesOtherTypes((router) => router.onUnknown(() => undefined))).toBe(true);
    expect(handlesOtherTypes((router) => router.use(pass))).toBe(true);
    const both = (router: Router) => {
      router.use(pass);
      router.on("mention", () => undefined);
    };
    expect(handlesOtherTypes(both)).toBe(false);
    expect(handlesOtherTypes(() => undefined)).toBe(false);
  });

  test("handlers of one type run one after the other, in the order of the calls", async () => {
    const router = new Router();
    const order: string[] = [];
    router.on("follow", async () => {
      order.push("first begins");
      await new Promise((resolve) => setImmediate(resolve));
      order.push("first ends");
    });
    router.on(["like", "follow"], () => order.push("second"));
    await run(router, jobFor("follow"), client);
    expect(order).toEqual(["first begins", "first ends", "second"]);
  });

  test("what a handler throws ends the run, and later handlers do not run", async () => {
    const router = new Router();
    const error = new Error("cannot");
    const later = vi.fn();
    router.on("follow", () => Promise.reject(error));
    router.on("follow", later);
    expect(await thrownBy(() => run(router, jobFor("follow"), client))).toBe(error);
    expect(later).not.toHaveBeenCalled();
  });

  test("an event without a handler is no failure, and leaves a line for those who look for it", async () => {
    const job = jobFor("follow");
    await run(new Router(), job, client);
    expect(job.lines).toHaveLength(1);
    expect(JSON.parse(job.lines[0] ?? "")).toMatchObject({ level: "debug" });
  });

  test.each(["dm.mesage", "constructor", "__proto__", "", "*"])(
    "the type %j is refused at once, and the permitted ones are listed",
    async (type) => {
      const router = new Router();
      // The list of types is empty, or JavaScript passes a misspelt type.
      const error = await thrownBy(() => router.on(type as EventType, () => undefined));
      expect(error).toBeInstanceOf(ServiceBotError);
      expect(error).toMatchObject({ code: "UNKNOWN_EVENT_TYPE" });
      for (const known of eventTypes) expect((error as Error).message).toContain(known);
      expect((error as Error).message).toContain("onUnknown");
    },
  );

  test("a wrong type among several is refused too", async () => {
    const router = new Router();
    const types = ["follow", "unfollow"] as EventType[];
    expect(await thrownBy(() => router.on(types, () => undefined))).toMatchObject({
      code: "UNKNOWN_EVENT_TYPE",
    });
  });
});

describe("onUnknown", () => {
  test("gets the types that are newer than this version, and only those", async () => {
    const router = new Router();
    const seen: unknown[] = [];
    router.onUnknown((ctx) => seen.push([ctx.event.type, ctx.payload]));
    router.on("follow", () => undefined);
    for (const type of ["whisper", "constructor", "follow", "mention"]) {
      await run(router, jobFor(type, { mood: "sunny" }), client);
    }
    expect(seen).toEqual([
      ["whisper", { mood: "sunny" }],
      ["constructor", { mood: "sunny" }],
    ]);
  });

  test("several run one after the other", async () => {
    const router = new Router();
    const order: number[] = [];
    router.onUnknown(async () => order.push(1));
    router.onUnknown(() => order.push(2));
    await run(router, jobFor("whisper"), client);
    expect(order).toEqual([1, 2]);
  });
});

describe("use", () => {
  test("the first is outermost, and each sees both ways", async () => {
    const router = new Router();
    const order: string[] = [];
    for (const name of ["a", "b"]) {
      router.use(async (_ctx, next) => {
        order.push(`${name} in`);
        await next();
        order.push(`${name} out`);
      });
    }
    router.on("follow", () => order.push("handler"));
    await run(router, jobFor("follow"), client);
    expect(order).toEqual(["a in", "b in", "handler", "b out", "a out"]);
  });

  test("runs around unknown types and around types without a handler too", async () => {
    const router = new Router();
    const seen: string[] = [];
    router.use(async (ctx, next) => {
      seen.push(ctx.event.type);
      await next();
    });
    await run(router, jobFor("whisper"), client);
    await run(router, jobFor("follow"), client);
    expect(seen).toEqual(["whisper", "follow"]);
  });

  test("without next the event ends there, and that is no failure", async () => {
    const router = new Router();
    const handler = vi.fn();
    router.use(() => undefined);
    router.on("follow", handler);
    await run(router, jobFor("follow"), client);
    expect(handler).not.toHaveBeenCalled();
  });

  test("gets the same context as the handler", async () => {
    const router = new Router();
    const seen: unknown[] = [];
    router.use(async (ctx, next) => {
      seen.push(ctx);
      await next();
    });
    router.on("follow", (ctx) => seen.push(ctx));
    await run(router, jobFor("follow"), client);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
  });

  test("may catch what the handler throws", async () => {
    const router = new Router();
    const error = new Error("cannot");
    const caught: unknown[] = [];
    router.use((_ctx, next) => next().catch((thrown: unknown) => caught.push(thrown)));
    router.on("follow", () => {
      throw error;
    });
    await run(router, jobFor("follow"), client);
    expect(caught).toEqual([error]);
  });

  test("what it throws itself ends the run", async () => {
    const router = new Router();
    const error = new Error("not today");
    router.use(() => {
      throw error;
    });
    expect(await thrownBy(() => run(router, jobFor("follow"), client))).toBe(error);
  });

  test("next twice is refused, and the handler has run once", async () => {
    const router = new Router();
    const handler = vi.fn();
    router.use(async (_ctx, next) => {
      await next();
      await next();
    });
    router.on("follow", handler);
    const error = await thrownBy(() => run(router, jobFor("follow"), client));
    expect(error).toMatchObject({ code: "NEXT_CALLED_TWICE" });
    expect((error as Error).message).toContain("once");
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("next twice is refused also while the first has not come back", async () => {
    const router = new Router();
    const handler = vi.fn();
    router.use(async (_ctx, next) => {
      await Promise.all([next(), next()]);
    });
    router.on("follow", handler);
    expect(await thrownBy(() => run(router, jobFor("follow"), client))).toMatchObject({
      code: "NEXT_CALLED_TWICE",
    });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each([
    ["a next that is not awaited is waited for, and its failure ends the run", undefined, true],
    ["a middleware that fails lets the handler end that it has begun", new Error("no"), false],
  ])("%s", async (_name, ofMiddleware, doesHandlerFail) => {
    const router = new Router();
    const gate = Promise.withResolvers<void>();
    const ofHandler = new Error("cannot");
    const order: string[] = [];
    router.use((_ctx, next) => {
      void next();
      if (ofMiddleware !== undefined) throw ofMiddleware;
    });
    router.on("follow", async () => {
      await gate.promise;
      order.push("handler");
      if (doesHandlerFail) throw ofHandler;
    });
    const running = thrownBy(() => run(router, jobFor("follow"), client)).finally(() =>
      order.push("run"),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    gate.resolve();
    expect(await running).toBe(ofMiddleware ?? ofHandler);
    expect(order).toEqual(["handler", "run"]);
  });

  test("a second next that is not awaited is refused all the same", async () => {
    const router = new Router();
    router.use(async (_ctx, next) => {
      await next();
      void next();
    });
    expect(await thrownBy(() => run(router, jobFor("follow"), client))).toMatchObject({
      code: "NEXT_CALLED_TWICE",
    });
  });

  test("next once for each event is not twice", async () => {
    const router = new Router();
    const handler = vi.fn();
    router.use((_ctx, next) => next());
    router.on("follow", handler);
    await run(router, jobFor("follow"), client);
    await run(router, jobFor("follow"), client);
    await Promise.all([
      run(router, jobFor("follow"), client),
      run(router, jobFor("follow"), client),
    ]);
    expect(handler).toHaveBeenCalledTimes(4);
  });

  test("middleware that is added later counts from the next event on", async () => {
    const router = new Router();
    const order: string[] = [];
    router.on("follow", () => order.push("handler"));
    await run(router, jobFor("follow"), client);
    router.use(async (_ctx, next) => {
      order.push("middleware");
      await next();
    });
    await run(router, jobFor("follow"), client);
    expect(order).toEqual(["handler", "middleware", "handler"]);
  });
});

describe("what a handler begins and does not wait for", () => {
  test("a reply without await is sent before the run ends", async () => {
    const { client, platform } = fakeClient();
    const router = new Router();
    router.on("dm.message", (ctx) => void ctx.reply("hello"));
    await run(router, jobFor("dm.message"), client);
    expect(platform.sent).toHaveLength(1);
  });

  test("a failure of it ends the run as one that was awaited does", async () => {
    const router = new Router();
    router.on("follow", (ctx) => void ctx.reply("hello"));
    expect(await thrownBy(() => run(router, jobFor("follow"), client))).toMatchObject({
      code: "REPLY_IMPOSSIBLE",
    });
  });

  test("a failure that the handler has dealt with does not", async () => {
    const { client, platform } = fakeClient();
    const router = new Router();
    const codes: unknown[] = [];
    router.on("follow", async (ctx) => {
      try {
        await ctx.reply("hello");
      } catch (error) {
        codes.push(error);
      }
      await ctx.step("broken", () => Promise.reject(new Error("x"))).catch(() => undefined);
    });
    await run(router, jobFor("follow"), client);
    expect(codes).toMatchObject([{ code: "REPLY_IMPOSSIBLE" }]);
    expect(platform.sent).toEqual([]);
  });
});

describe("onError", () => {
  async function failed(router: Router) {
    const error = new Error("cannot");
    const job = jobFor("dm.message");
    const handling = begin(router, job, client);
    const contexts: Context[] = [];
    router.on("dm.message", (ctx) => {
      contexts.push(ctx as Context);
      throw error;
    });
    await thrownBy(() => handling.run());
    await handling.failed(error);
    return { error, job, context: contexts[0] };
  }

  test("observers get the error and the context of the run, in the order of the calls", async () => {
    const router = new Router();
    const seen: unknown[] = [];
    router.onError(async (error, ctx) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(["first", error, ctx]);
    });
    router.onError((error, ctx) => seen.push(["second", error, ctx]));
    const { error, context } = await failed(router);
    expect(context).toBeDefined();
    expect(seen).toEqual([
      ["first", error, context],
      ["second", error, context],
    ]);
    expect((seen[0] as unknown[])[2]).toBe(context);
  });

  test("an observer that throws changes nothing, and the next one still sees the error", async () => {
    const router = new Router();
    const next = vi.fn();
    router.onError(() => {
      throw new Error("the observer broke");
    });
    router.onError(() => Promise.reject(new Error("this one too")));
    router.onError(next);
    const { error, job } = await failed(router);
    expect(next).toHaveBeenCalledWith(error, expect.anything());
    const lines = job.lines.map((line) => JSON.parse(line) as { level: string });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.level).toBe("error");
    expect(job.lines.join("")).toMatch(/the observer broke.*this one too/s);
  });

  test("what an observer throws may quote the message; the log does not", async () => {
    const router = new Router();
    router.onError((_error, ctx) => {
      throw new Error(`cannot report ${JSON.stringify(ctx.payload)}`);
    });
    const { job } = await failed(router);
    expect(job.lines.join("")).toContain("cannot report");
    expect(job.lines.join("")).not.toContain("hello");
  });

  test("observers learn nothing of a job that never ran, because it has no context", async () => {
    const router = new Router();
    const observer = vi.fn();
    router.onError(observer);
    await begin(router, jobFor("follow"), client).failed(new Error("the lease was lost"));
    expect(observer).not.toHaveBeenCalled();
  });
});

describe("options of a handler", () => {
  const noop = () => undefined;

  test("hold for its types, and of what was set twice the later one holds", () => {
    const router = new Router();
    router.on(["mention", "reply"], noop, { maxAttempts: 2, timeoutMs: 100 });
    router.on("mention", noop, { maxAttempts: 3 });
    router.on("mention", noop);
    expect(routesOf(router).optionsFor("mention")).toEqual({ maxAttempts: 3, timeoutMs: 100 });
    expect(routesOf(router).optionsFor("reply")).toEqual({ maxAttempts: 2, timeoutMs: 100 });
    expect(routesOf(router).optionsFor("like")).toEqual({});
  });

  test.each([
    [{ maxAttempts: 0 }, "maxAttempts"],
    [{ maxAttempts: 1.5 }, "maxAttempts"],
    [{ concurrency: 0 }, "concurrency"],
    [{ concurrency: 1.5 }, "concurrency"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: Number.NaN }, "timeoutMs"],
    [{ timeoutMs: 365 * 86_400_000 + 1 }, "timeoutMs"],
    [{ retry: { baseMs: -1 } }, "retry.baseMs"],
    [{ retry: { baseMs: 1e300 } }, "retry.baseMs"],
    [{ retry: { maxMs: 365 * 86_400_000 + 1 } }, "retry.maxMs"],
    [{ retry: { factor: -1 } }, "retry.factor"],
  ])("out of range are refused by name: %j", (options, name) => {
    expect(() => new Router().on("mention", noop, options)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining(`${name} must be`),
      }),
    );
  });

  test("of 365 days are accepted", () => {
    const ms = 365 * 86_400_000;
    const options = { timeoutMs: ms, retry: { baseMs: ms, maxMs: ms } };
    expect(() => new Router().on("mention", noop, options)).not.toThrow();
  });
});

test("on() and catch() need a type; a boundary of a custom type comes after its handler", () => {
  const empty = expect.objectContaining({ code: "INVALID_OPTION" });
  expect(() => new Router().on([], () => undefined)).toThrow(empty);
  expect(() => new Router().catch([], () => undefined)).toThrow(empty);
  expect(() => new Router().catch("poll.closed", () => undefined)).toThrow(
    /first register its handler/,
  );
});
