import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { authorCode } from "../faces/core.ts";
import { Handlers, type Next, Router, routesOf } from "../faces/router.ts";
import { ManualClock } from "../faces/testing.ts";
import { fakeClient } from "../router/support.ts";
import { message } from "../support/inbox-events.ts";
import { manualWatch } from "../support/manual-watch.ts";
import { harness, stop } from "./harness.ts";

/** Blocks the event loop for longer than the limit. */
type Block = () => void;

type Register = (router: Router, block: Block) => unknown;

/** Handles a message in each of two conversations, and returns the log's lines about blocks. */
async function blocksOf(register: Register) {
  const { watch, compute, tick } = manualWatch();
  const router = new Router();
  register(router, () => compute(1_500));
  const { client } = fakeClient();
  const routes = routesOf(router);
  const handler = new Handlers({ routes, client, clock: new ManualClock(), loopGuard: false });
  const { inbox, dispatcher, log } = harness(() => undefined, { handler, watch, maxAttempts: 1 });
  await inbox.put([message("1", "c_1"), message("2", "c_2")], "webhook");
  await dispatcher.idle();
  tick();
  return log.records.filter((line) => "handler" in line || "suspects" in line);
}

/** Blocks only for the first event. */
const first = (event: { readonly id: string }, block: Block) => {
  if (event.id === "1") block();
};

const cases: readonly (readonly [string, Register])[] = [
  [
    'on("dm.message")',
    (router, block) => router.on("dm.message", (ctx) => first(ctx.event, block)),
  ],
  [
    'on("dm.message")',
    (router, block) =>
      router.on("dm.message", async (ctx) => {
        await ctx.reply("hi");
        first(ctx.event, block);
      }),
  ],
  [
    'on("dm.message")',
    (router, block) =>
      router.on("dm.message", async (ctx) => {
        await ctx.step("compute", () => first(ctx.event, block));
      }),
  ],
  [
    'on("dm.message")',
    (router, block) =>
      router.on("dm.message", async (ctx) => {
        await ctx.text();
        first(ctx.event, block);
      }),
  ],
  ["hears(/^/)", (router, block) => router.hears(/^/, (ctx) => first(ctx.event, block))],
  [
    'on("dm.message") signedIn',
    (router, block) => {
      const signedIn = (ctx: { event: { id: string } }, next: Next) => {
        first(ctx.event, block);
        return next();
      };
      router.on("dm.message", signedIn, () => undefined);
    },
  ],
  [
    "use()",
    (router, block) => {
      router.use(async (ctx, next) => {
        await next();
        first(ctx.event, block);
      });
      router.on("dm.message", () => undefined);
    },
  ],
  [
    "onError()",
    (router, block) => {
      router.onError((_error, ctx) => first(ctx.event, block));
      router.on("dm.message", () => Promise.reject(new Error("broken")));
    },
  ],
  [
    "catch()",
    (router, block) => {
      router.catch((_error, ctx) => first(ctx.event, block));
      router.on("dm.message", () => Promise.reject(new Error("broken")));
    },
  ],
];

test.each(cases)("a block in %s is logged once, with the event", async (handler, register) => {
  expect(await blocksOf(register)).toMatchObject([
    {
      level: "warn",
      handler,
      event: "1",
      type: "dm.message",
      lane: "dm:c_1",
      attempt: 1,
      ms: 1_500,
    },
  ]);
});

test("a block after a promise of the handler's own is logged with all handlers that may have blocked", async () => {
  const lines = await blocksOf((router, block) => {
    router.on("dm.message", async (ctx) => {
      await setImmediate();
      first(ctx.event, block);
    });
  });
  expect(lines).toMatchObject([{ level: "warn", ms: 1_500 }]);
  expect(lines[0]?.["suspects"]).toContainEqual(
    expect.objectContaining({ handler: 'on("dm.message")', event: "1", type: "dm.message" }),
  );
});

test("a handler that blocks again is logged at debug", async () => {
  const lines = await blocksOf((router, block) => router.on("dm.message", block));
  expect(lines.map(({ level, event }) => [level, event])).toEqual([
    ["warn", "1"],
    ["debug", "2"],
  ]);
});

/** Handles messages in so many conversations with a handler that hangs. */
async function hanging(conversations: number) {
  const { watch, compute, tick } = manualWatch();
  const router = new Router().on("dm.message", () => new Promise(() => undefined));
  const { client } = fakeClient();
  const clock = new ManualClock();
  const handler = new Handlers({ routes: routesOf(router), client, clock, loopGuard: false });
  const { inbox, dispatcher, log } = harness(() => undefined, {
    handler,
    watch,
    clock,
    maxAttempts: 1,
    handlerTimeoutMs: 1_000,
    concurrency: conversations,
  });
  const ids = Array.from({ length: conversations }, (_, index) => `${index}`);
  await inbox.put(
    ids.map((id) => message(id, `c_${id}`)),
    "webhook",
  );
  return {
    endRuns: async () => {
      await clock.advance(2_000);
      await dispatcher.idle();
      tick();
    },
    block: () => {
      compute(3_000);
      tick();
      return log.records.filter(({ ms }) => ms === 3_000);
    },
  };
}

test("a handler that hangs is no suspect after its timeout", async () => {
  const { endRuns, block } = await hanging(1);
  await endRuns();
  expect(block()).toEqual([expect.not.objectContaining({ handler: expect.anything() })]);
});

test("at most 100 of the handlers that may have blocked are logged", async () => {
  const { block } = await hanging(101);
  await setImmediate();
  expect(block()).toMatchObject([{ suspects: { length: 100 } }]);
});

test("a handler that is fast is not logged", async () => {
  expect(await blocksOf((router) => router.on("dm.message", () => undefined))).toEqual([]);
});

test("a block is logged by the bot whose handler caused it, and not by another one", async () => {
  const { watch, compute } = manualWatch();
  const other = harness(() => undefined, { watch });
  const handling = harness(() => authorCode("handler", () => compute(1_500)), { watch });
  await handling.inbox.put([message("1", "c_1")], "webhook");
  await handling.dispatcher.idle();
  const linesOf = ({ log }: typeof other) => log.records.filter(({ ms }) => ms === 1_500);
  expect(linesOf(handling)).toMatchObject([{ handler: "handler", event: "1" }]);
  expect(linesOf(other)).toEqual([]);
});

test("a bot that has stopped logs no block", async () => {
  const { watch, compute, tick } = manualWatch();
  const { dispatcher, clock, log } = harness(() => undefined, { watch });
  await dispatcher.idle();
  await stop(dispatcher, clock);
  compute(3_000);
  tick();
  expect(log.records).toEqual([]);
});
