import { describe, expect, expectTypeOf, test, vi } from "vitest";
import type { ActivityPayload, DmMessagePayload } from "../faces/events.ts";
import {
  type CommandContext,
  Handlers,
  type HearsContext,
  Router,
  routesOf,
} from "../faces/router.ts";
import { ManualClock } from "../faces/testing.ts";
import { fakeClient, jobFor, run } from "./support.ts";

const LONG = `tea ${"very ".repeat(60)}hot`;

async function hear(router: Router, text: string, type = "dm.message") {
  const { client, platform } = fakeClient();
  const place = { entityType: "post", entityId: "p_9", postId: "p_9", commentId: undefined };
  const more = type === "dm.message" ? {} : place;
  const whole = jobFor(type, { ...more, excerpt: text });
  platform.happen({ type, payload: whole.event.payload });
  const excerpt = text.length > 20 ? `${text.slice(0, 20)}…` : text;
  await run(router, jobFor(type, { ...more, excerpt }), client);
  return platform.calls.map(({ method, path }) => `${method} ${path}`);
}

function noting() {
  const seen: unknown[] = [];
  const router = new Router();
  router.command("remind", { description: "reminds you" }, (ctx) => seen.push(ctx.command));
  router.hears("good morning", (ctx) => seen.push(ctx.match[0]));
  router.hears(/^roll (\d+)$/g, (ctx) => seen.push(ctx.match[1]));
  router.on(["dm.message", "mention"], (ctx) => seen.push(ctx.event.type));
  return { router, seen };
}

describe("commands", () => {
  test.each([
    ["/remind 10m tea", "10m tea"],
    ["/remind", ""],
    ["  /Remind   tea  ", "tea"],
    ["/remind\ntwo\nlines", "two\nlines"],
    ["@bot /remind tea", "tea"],
    [`/remind ${LONG}`, LONG],
  ])("match the whole text: %j", async (text, args) => {
    const { router, seen } = noting();
    await hear(router, text);
    expect(seen).toEqual([{ name: "remind", args }]);
  });

  test.each(["/reminder tea", "remind tea", "please /remind", "/remind@bot", "//remind"])(
    "leave the rest to on(): %j",
    async (text) => {
      const { router, seen } = noting();
      await hear(router, text);
      expect(seen).toEqual(["dm.message"]);
    },
  );

  test.each(["@bot /remind tea", "@Bot: /remind tea"])(
    "match a mention without the name in front, while the bot's own is unknown: %j",
    async (text) => {
      const { router, seen } = noting();
      await hear(router, text, "mention");
      expect(seen).toEqual([{ name: "remind", args: "tea" }]);
    },
  );

  test.each([
    ["@NAME, @name /remind tea", true],
    ["/remind tea @name!", true],
    ["/remind@NAME tea", true],
    ["/remind@somebody tea", false],
    ["/remind@names tea", false],
    ["@somebody /remind tea", false],
    ["@names /remind tea", false],
  ])("match a mention without the name that GET /me shows: %j", async (pattern, matches) => {
    const { client, platform } = fakeClient();
    const { username = "" } = await client.me();
    const text = pattern.replace("NAME", username.toUpperCase()).replace("name", username);
    const { router, seen } = noting();
    const place = { entityType: "post", entityId: "p_9", postId: "p_9", commentId: undefined };
    const job = jobFor("mention", { ...place, excerpt: text });
    platform.happen({ type: "mention", payload: job.event.payload });
    const handling = new Handlers({
      routes: routesOf(router),
      client,
      clock: new ManualClock(),
      loopGuard: false,
    }).begin(job);
    await handling.prepare?.();
    await handling.run();
    expect(seen).toEqual([matches ? { name: "remind", args: "tea" } : "mention"]);
  });

  test("and texts match in either form of Unicode", async () => {
    const seen: unknown[] = [];
    const [composed, split] = ["caf\u00e9", "cafe\u0301"];
    const router = new Router();
    router.command(composed, () => seen.push("command"));
    router.hears(split, () => seen.push("text"));
    router.hears(new RegExp(`${split}!`), () => seen.push("expression"));
    for (const text of [`/${split}`, composed, split, `${composed}!`]) await hear(router, text);
    expect(seen).toEqual(["command", "text", "text", "expression"]);
  });

  test("are listed with their descriptions, also those of modules", () => {
    const shop = new Router().command("cart", () => undefined);
    const { router } = noting();
    router.use(shop);
    expect(router.commands).toEqual([
      { name: "remind", description: "reminds you" },
      { name: "cart", description: "" },
    ]);
  });

  test.each(["", "/remind", "two words", "@bot", "x".repeat(51)])(
    "have plain names: %j",
    (name) => {
      expect(() => new Router().command(name, () => undefined)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTION" }),
      );
    },
  );

  test("have one handler each, also across modules", () => {
    const { router } = noting();
    const again = (on: Router) => on.command("remind", () => undefined);
    expect(() => again(router)).toThrow('command("remind") is already registered');
    expect(() => router.use(again(new Router()))).toThrow("already registered");
  });
});

describe("hears", () => {
  test.each([
    ["Good Morning ", "Good Morning"],
    ["roll 6", "6"],
    ["@bot roll 12", "12"],
  ])("matches a text in any case, or an expression: %j", async (text, match) => {
    const { router, seen } = noting();
    await hear(router, text);
    await hear(router, text);
    expect(seen).toEqual([match, match]);
  });

  test("of what matches the first one runs, alone", async () => {
    const { router, seen } = noting();
    router.hears(/./, () => seen.push("second"));
    await hear(router, "roll 6");
    expect(seen).toEqual(["6"]);
    seen.length = 0;
    await hear(router, "another");
    expect(seen).toEqual(["second"]);
  });

  test("never matches an excerpt that was cut", async () => {
    const router = new Router();
    const seen: unknown[] = [];
    router.hears(/^x{20}…?$/, () => seen.push("cut"));
    router.on("dm.message", async (ctx) => seen.push(await ctx.text()));
    await hear(router, "x".repeat(30));
    expect(seen).toEqual(["x".repeat(30)]);
  });

  test("runs the middleware of its module, and its own", async () => {
    const order: string[] = [];
    const note = (name: string) => (_ctx: unknown, next: () => Promise<void>) => {
      order.push(name);
      return next();
    };
    const shop = new Router();
    shop.use(note("shop"));
    shop.hears("buy", note("own"), () => order.push("handler"));
    const bot = new Router();
    bot.use(note("bot"));
    bot.use(shop);
    bot.on("dm.message", () => order.push("on"));
    await hear(bot, "buy");
    expect(order).toEqual(["bot", "shop", "own", "handler"]);
    order.length = 0;
    await hear(bot, "sell");
    expect(order).toEqual(["bot", "on"]);
  });

  test.each(["", " ", undefined, 5])("needs a text or an expression: %j", (pattern) => {
    expect(() => new Router().hears(pattern as string, () => undefined)).toThrow("hears() needs");
  });
});

describe("requests", () => {
  const read = "GET /dm/conversations/c_1/messages";

  test("are none in a bot without commands", async () => {
    expect(
      await hear(
        new Router().on("dm.message", () => undefined),
        "/remind",
      ),
    ).toEqual([]);
  });

  test("are none for a text in which no command can be", async () => {
    const { router } = noting();
    const commands = new Router().command("remind", () => undefined);
    expect(await hear(commands, "hello there, what is new?")).toEqual([]);
    expect(await hear(commands, "/other")).toEqual([]);
    expect(await hear(commands, "/remind")).toEqual([read]);
    expect(await hear(router, "hello")).toEqual([]);
  });

  test.each<[string | RegExp, string, number]>([
    ["good morning", "good evening to you", 0],
    ["good morning", "good morning everyone", 0],
    ["good morning", "good", 1],
    ["good morning", "Good Morning", 1],
    ["good morning", "good morning @bot", 1],
    [/^roll (\d+)$/, "hello", 0],
    [/^roll (\d+)$/, "rolling stones", 0],
    [/^roll (\d+)$/, "please roll 6", 0],
    [/^roll (\d+)$/, "roll 6", 1],
    [/^roll (\d+)$/, "ro", 1],
    [/^rolls? (\d+)$/, "roll 6", 1],
    [/^\d+$/, "good morning", 0],
    [/^\d+$/, "42", 1],
    [/^(?:hi|hello)\b/, "good morning", 1],
    [/^hi|hello/, "good morning", 1],
    [/roll (\d+)/, "good morning", 1],
  ])("for %s and %j are as many as the excerpt leaves open: %i", async (pattern, text, count) => {
    const router = new Router().hears(pattern, () => undefined);
    expect(await hear(router, text)).toEqual(Array(count).fill(read));
  });

  test("are none for commands and patterns of the other kind of text", async () => {
    const router = new Router();
    router.command("remind", { in: "mention" }, () => undefined);
    router.hears(/./, { in: "mention" }, () => undefined);
    expect(await hear(router, "/remind")).toEqual([]);
  });

  test("are one per run, also with ctx.text() in the handler", async () => {
    const router = new Router().command("remind", async (ctx) => {
      await ctx.text();
      await ctx.message();
    });
    expect(await hear(router, "/remind")).toEqual([read]);
  });

  test("are none where a middleware ends the event first", async () => {
    const { router, seen } = noting();
    router.use(() => undefined);
    expect(await hear(router, "/remind")).toEqual([]);
    expect(seen).toEqual([]);
  });

  test("are none for a mention without a place, which goes to on()", async () => {
    const { client, platform } = fakeClient();
    const router = new Router();
    const handler = vi.fn();
    router.command("remind", () => undefined).on("mention", handler);
    const nowhere = {
      entityType: "note",
      entityId: "n_1",
      postId: undefined,
      commentId: undefined,
    };
    await run(router, jobFor("mention", { ...nowhere, excerpt: "/remind" }), client);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(platform.calls).toEqual([]);
  });
});

describe("the option in", () => {
  function placed() {
    const seen: string[] = [];
    const router = new Router();
    router.command("secret", { in: "dm" }, () => seen.push("secret in a message"));
    router.command("vote", { in: ["mention"] }, () => seen.push("vote in a mention"));
    router.hears("hello", { in: "dm" }, () => seen.push("hello in a message"));
    router.hears(/^hello/, (ctx) => seen.push(`hello in ${ctx.event.type}`));
    router.on(["dm.message", "mention"], (ctx) => seen.push(ctx.event.type));
    return { router, seen };
  }

  test.each([
    ["/secret", "dm.message", "secret in a message"],
    ["/secret", "mention", "mention"],
    ["/vote", "dm.message", "dm.message"],
    ["/vote", "mention", "vote in a mention"],
    ["hello", "dm.message", "hello in a message"],
    ["hello", "mention", "hello in mention"],
  ])("decides who gets %j in a %s: %s", async (text, type, expected) => {
    const { router, seen } = placed();
    await hear(router, text, type);
    await hear(new Router().use(router), text, type);
    expect(seen).toEqual([expected, expected]);
  });

  test("holds in a module, with middleware in between", async () => {
    const seen: string[] = [];
    const shop = new Router().use((_ctx, next) => next({ user: "ada" }));
    shop.command(
      "buy",
      { in: "dm" },
      (ctx, next) => next({ from: ctx.payload.from.username }),
      (ctx) => seen.push(`${ctx.user} ${ctx.from}`),
    );
    shop.hears(
      "sell",
      { in: ["mention"] },
      (ctx, next) => next({ actor: ctx.payload.actor.username }),
      (ctx) => seen.push(`${ctx.user} ${ctx.actor}`),
    );
    const router = new Router().use(shop as Router);
    for (const type of ["dm.message", "mention"]) {
      await hear(router, "/buy", type);
      await hear(router, "sell", type);
    }
    expect(seen).toEqual(["ada ada", "ada ada"]);
  });

  test("narrows the payload", () => {
    const router = new Router();
    const onSecret = (ctx: CommandContext<"dm">) => ctx.payload.from;
    const onText = (ctx: HearsContext) => ctx.event.id;
    router.command("secret", { description: "whispers", in: "dm" }, onSecret);
    router.command("vote", { in: "mention" }, (ctx) =>
      expectTypeOf(ctx.payload).toEqualTypeOf<ActivityPayload>(),
    );
    router.command("both", { in: ["dm", "mention"] }, (ctx) =>
      expectTypeOf(ctx.event.type).toEqualTypeOf<"dm.message" | "mention">(),
    );
    router.command("described", { description: "" }, (ctx) =>
      expectTypeOf(ctx.event.type).toEqualTypeOf<"dm.message" | "mention">(),
    );
    router.hears("hi", { in: "dm" }, (ctx) => {
      expectTypeOf(ctx.payload).toEqualTypeOf<DmMessagePayload>();
      expectTypeOf(ctx.match).toEqualTypeOf<RegExpExecArray>();
    });
    router.hears("hello", { in: "mention" }, onText);
    // @ts-expect-error The handler needs a message, and the command also works in mentions.
    router.command("mistake", onSecret);
    expect(router.commands.map(({ name }) => name)).toContain("secret");
  });

  test("is listed with the command, unless the command works everywhere", () => {
    const { router } = placed();
    router.command("help", { in: ["mention", "dm"] }, () => undefined);
    expect(router.commands).toEqual([
      { name: "secret", description: "", in: ["dm"] },
      { name: "vote", description: "", in: ["mention"] },
      { name: "help", description: "" },
    ]);
  });

  test("lets a name have one handler in each kind of text", async () => {
    const { router, seen } = placed();
    router.command("secret", { in: "mention" }, () => seen.push("secret in a mention"));
    await hear(router, "/secret", "mention");
    expect(seen).toEqual(["secret in a mention"]);
    const third = new Router().command("secret", () => undefined);
    expect(() => router.use(third)).toThrow('command("secret") is already registered');
  });

  test("decides which types the bot handles", () => {
    const handled = (router: Router) => routesOf(router).handledTypes;
    expect(handled(new Router().command("x", { in: "dm" }, () => undefined))).toEqual([
      "dm.message",
    ]);
    expect(handled(new Router().hears("x", { in: "mention" }, () => undefined))).toEqual([
      "mention",
    ]);
  });

  test.each([["dms"], [""], [[]], [["dm", "public"]], [null], [7], [{}], [["dm", ["mention"]]]])(
    "refuses %j with a sentence",
    (given) => {
      const bad = { in: given } as { in: "dm" };
      const refused = expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining('in must be "dm" or "mention"'),
      });
      expect(() => new Router().command("x", bad, () => undefined)).toThrow(refused);
      expect(() => new Router().hears("x", bad, () => undefined)).toThrow(refused);
    },
  );

  test("comes before the handler, as other options of command, hears and cron do", () => {
    const call = (method: "command" | "hears" | "cron", ...given: readonly unknown[]) =>
      Reflect.apply(new Router()[method], new Router(), given);
    const handler = () => undefined;
    for (const [method, ...given] of [
      ["command", "x", handler, { maxAttempts: 3 }],
      ["hears", "x", handler, { maxAttempts: 3 }],
      ["cron", "x", "0 9 * * *", handler, { maxAttempts: 3 }],
    ] as const) {
      expect(() => call(method, ...given), method).toThrow("maxAttempts before the handler");
    }
    expect(() => call("hears", "x", { in: "dm" })).toThrow("needs a function");
    expect(() => call("hears", "x", { im: "dm" }, handler)).toThrow("unknown option im");
  });
});

test("types with commands alone are handled", () => {
  const routes = routesOf(new Router().command("remind", () => undefined));
  expect(routes.handledTypes).toEqual(["dm.message", "mention"]);
  expect(routes.handlesOtherTypes).toBe(false);
});
