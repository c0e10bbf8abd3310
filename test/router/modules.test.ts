import { describe, expect, test, vi } from "vitest";
import { Router, routesOf } from "../faces/router.ts";
import { begin, fakeClient, jobFor, run } from "./support.ts";

const { client } = fakeClient();

describe("a module", () => {
  test("runs its handlers where it was mounted, among those of the bot", async () => {
    const order: string[] = [];
    const bot = new Router();
    const shop = new Router();
    bot.on("follow", () => order.push("before"));
    bot.use(shop);
    bot.on("follow", () => order.push("after"));
    // This handler is registered after the module was mounted and the first event was handled.
    await run(bot, jobFor("follow"), client);
    shop.on("follow", () => order.push("shop"));
    await run(bot, jobFor("follow"), client);
    expect(order).toEqual(["before", "after", "before", "shop", "after"]);
    expect(routesOf(bot).handledTypes).toEqual(["follow"]);
  });

  test("has middleware for its own handlers alone, inside of the bot's, once around all of them", async () => {
    const order: string[] = [];
    const bot = new Router();
    const shop = new Router();
    const noting = (name: string) => async (_ctx: unknown, next: () => Promise<void>) => {
      order.push(`${name} in`);
      await next();
      order.push(`${name} out`);
    };
    bot.use(noting("bot")).use(shop);
    shop.use(noting("shop"));
    shop.on("follow", () => order.push("first"));
    shop.on("follow", () => order.push("second"));
    await run(bot, jobFor("follow"), client);
    expect(order).toEqual(["bot in", "shop in", "first", "second", "shop out", "bot out"]);
    order.length = 0;
    await run(bot, jobFor("like"), client);
    expect(order).toEqual(["bot in", "bot out"]);
  });

  test("may hold modules, and passes on their types, options and crons", async () => {
    const seen: string[] = [];
    const [bot, shop, cart] = [new Router(), new Router(), new Router()];
    bot.use(shop);
    shop.use(cart);
    cart.on("like", () => seen.push("cart"), { concurrency: 2 });
    cart.cron("daily", "0 9 * * *", { timeZone: "Europe/Paris", missed: "none" }, () => undefined);
    await run(bot, jobFor("like"), client);
    expect(seen).toEqual(["cart"]);
    expect(routesOf(bot).handledTypes).toEqual(["like", "cron:daily"]);
    expect(routesOf(bot).optionsFor("like")).toEqual({ concurrency: 2 });
    expect(routesOf(bot).crons).toMatchObject([
      { name: "daily", pattern: "0 9 * * *", timeZone: "Europe/Paris", missed: "none" },
    ]);
  });

  test("of one kind serves two bots", async () => {
    const handler = vi.fn();
    const shop = new Router().on("like", handler);
    for (const bot of [new Router(), new Router()]) {
      bot.use(shop);
      await run(bot, jobFor("like"), client);
    }
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test("is mounted once in a bot, and not in itself", () => {
    const [bot, shop] = [new Router(), new Router()];
    bot.use(shop);
    for (const mount of [() => bot.use(shop), () => shop.use(shop), () => shop.use(bot)]) {
      expect(mount).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    }
  });

  test("has fields of its middleware alone: a sibling sees none, and those of the bot as they were", async () => {
    const seen: unknown[] = [];
    const note = (ctx: object) => seen.push([Reflect.get(ctx, "user"), Reflect.get(ctx, "cart")]);
    const shop = new Router();
    shop.use((_ctx, next) => next({ user: "shop", cart: 1 }));
    shop.on("like", note).hears("buy", note);
    const bot = new Router().use((_ctx, next) => next({ user: "bot" }));
    bot.use(shop);
    bot.on("like", (_ctx, next) => next({ cart: 2 }), note);
    bot.use(new Router().on("like", note));
    await run(bot, jobFor("like"), client);
    expect(seen).toEqual([
      ["shop", 1],
      ["bot", 2],
      ["bot", undefined],
    ]);
  });

  test.each([true, false])(
    "has the boundary for what it throws, the bot for what it throws after: %j",
    async (isRethrown) => {
      const seen: string[] = [];
      const cart = new Router().catch(() => seen.push("cart"));
      const shop = new Router().catch(() => seen.push("shop"));
      const bot = new Router().catch(() => seen.push("bot"));
      bot.use(async (_ctx, next) => {
        await next().catch((error: unknown) => {
          throw isRethrown ? error : new Error("another");
        });
      });
      bot.use(shop);
      shop.use((_ctx, next) => next().catch(() => undefined));
      shop.use(new Router().on("like", () => Promise.reject(new Error("swallowed"))));
      bot.use(cart);
      cart.on("like", () => Promise.reject(new Error("cannot")));
      const job = begin(bot, jobFor("like"), client);
      const error = await job.run().catch((thrown: unknown) => thrown);
      await job.boundary(error)?.begin(jobFor("like")).run();
      expect(seen).toEqual([isRethrown ? "cart" : "bot"]);
    },
  );

  test("has observers for what its own handlers throw", async () => {
    const bot = new Router();
    const [ofBot, ofShop, ofCart] = [vi.fn(), vi.fn(), vi.fn()];
    const shop = new Router().onError(ofShop);
    const cart = new Router().onError(ofCart);
    bot.onError(ofBot).use(shop);
    bot.use(cart);
    shop.on("like", () => undefined);
    cart.on("like", () => {
      throw new Error("cannot");
    });
    const job = begin(bot, jobFor("like"), client);
    const error = await job.run().catch((thrown: unknown) => thrown);
    await job.failed(error);
    expect([ofBot, ofShop, ofCart].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
  });
});

describe("names", () => {
  test("of crons are refused when they are taken, also across modules", () => {
    const bot = new Router();
    const shop = new Router();
    const daily = (router: Router) => router.cron("daily", "0 9 * * *", () => undefined);
    daily(bot);
    expect(() => daily(bot)).toThrow('cron("daily") is already registered');
    bot.use(shop);
    expect(() => daily(shop)).toThrow("already registered");
    expect(() => bot.use(daily(new Router()))).toThrow("already registered");
    expect(routesOf(bot).crons).toHaveLength(1);
  });

  test.each(["", "a\nb", "x".repeat(101)])(
    "of timers and crons are short and plain: %j",
    (name) => {
      const router = new Router();
      const refused = expect.objectContaining({ code: "INVALID_OPTION" });
      expect(() => router.onTimer(name, () => undefined)).toThrow(refused);
      expect(() => router.cron(name, "* * * * *", () => undefined)).toThrow(refused);
    },
  );
});

describe("timers and crons", () => {
  test("go to the handler of their name, with its options", async () => {
    const seen: unknown[] = [];
    const router = new Router();
    router.onTimer("remind", (ctx) => seen.push(ctx.payload.data), { maxAttempts: 2 });
    router.onTimer("other", () => seen.push("other"));
    router.cron("daily", "0 9 * * *", { timeoutMs: 5 }, (ctx) => seen.push(ctx.payload.dueAt));
    router.onUnknown(() => seen.push("unknown"));
    await run(router, jobFor("timer:remind", { name: "remind", data: { text: "tea" } }), client);
    await run(router, jobFor("cron:daily", { dueAt: "2026-11-23T09:00:00Z" }), client);
    expect(seen).toEqual([{ text: "tea" }, "2026-11-23T09:00:00Z"]);
    const routes = routesOf(router);
    expect(routes.handledTypes).toEqual(["timer:remind", "timer:other", "cron:daily"]);
    expect(routes.optionsFor("timer:remind")).toEqual({ maxAttempts: 2 });
    expect(routes.optionsFor("cron:daily")).toEqual({ timeoutMs: 5 });
  });

  test.each(["timer:gone", "cron:gone"])(
    "without a handler fail, and are not taken for unknown types: %s",
    async (type) => {
      const router = new Router();
      const unknown = vi.fn();
      router.onUnknown(unknown);
      const failure = await run(router, jobFor(type), client).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "HANDLER_MISSING" });
      expect((failure as Error).message).toContain('"gone"');
      expect(unknown).not.toHaveBeenCalled();
    },
  );

  test.each(["timer:x", "cron:x"])("are no types for on(): %s", (type) => {
    const on = () => new Router().on(type as "follow", () => undefined);
    expect(on).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  test("of a cron with a wrong option are refused", () => {
    const cron = (options: object) => () =>
      new Router().cron("a", "* * * * *", options, () => undefined);
    expect(cron({ missed: "all" })).toThrow('missed must be "last" or "none"');
    expect(cron({ timezone: "UTC" })).toThrow("did you mean timeZone?");
  });
});

describe("middleware of a handler", () => {
  test("runs around that handler, inside of the router's", async () => {
    const order: string[] = [];
    const router = new Router();
    router.use(async (_ctx, next) => {
      order.push("router");
      await next();
    });
    router.on(
      "like",
      async (_ctx, next) => {
        order.push("own");
        await next();
      },
      () => order.push("handler"),
      { concurrency: 1 },
    );
    router.on("like", () => order.push("plain"));
    await run(router, jobFor("like"), client);
    expect(order).toEqual(["router", "own", "handler", "plain"]);
    expect(routesOf(router).optionsFor("like")).toEqual({ concurrency: 1 });
  });

  test("adds fields to the context, which all that comes after has", async () => {
    const seen: unknown[] = [];
    const router = new Router().use((_ctx, next) => next({ user: "ada" }));
    router.on(
      "like",
      (ctx, next) => next({ greeting: `hi ${ctx.user}` }),
      (ctx) => seen.push(ctx.greeting),
    );
    router.on("follow", (ctx) => seen.push(ctx.user));
    await run(router, jobFor("like"), client);
    await run(router, jobFor("follow"), client);
    expect(seen).toEqual(["hi ada", "ada"]);
  });

  test("may replace a field of its own, and none of the context's", async () => {
    const router = new Router();
    router.use((_ctx, next) => next({ user: 1 }));
    router.use((_ctx, next) => next({ user: 2 }));
    router.on("like", () => undefined);
    await run(router, jobFor("like"), client);
    router.use((_ctx, next) => next({ reply: "mine" }));
    await expect(run(router, jobFor("like"), client)).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("ctx.reply"),
    });
  });
});
