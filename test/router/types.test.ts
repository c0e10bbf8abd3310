import { expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { Bot, type BotOptions } from "../faces/bot.ts";
import {
  type CommandContext,
  type Context,
  type CronContext,
  type HearsContext,
  type Middleware,
  Router,
  type TimerContext,
  type WithState,
} from "../faces/router.ts";

/** Each `@ts-expect-error` marks a mistake that the compiler must find. If it does not, `npm run check` fails. */

interface User {
  readonly name: string;
}
const user: User = { name: "Ada" };

test("fields of middleware are typed in what comes after it", () => {
  const router = new Router();
  const known = router.use((_ctx, next) => next({ user }));
  expect(known).toBe(router);
  known.on("mention", (ctx) => expectTypeOf(ctx.user).toEqualTypeOf<User>());
  known.command("buy", (ctx) => expectTypeOf(ctx.user.name).toBeString());
  known.hears(/x/, (ctx) => expectTypeOf(ctx.match).toEqualTypeOf<RegExpExecArray>());
  known.catch((_error, ctx) => expectTypeOf(ctx.user).toEqualTypeOf<User | undefined>());
  // @ts-expect-error Only the router that `use` returns has a user.
  router.on("mention", (ctx) => ctx.user);
  const both = known.use((ctx, next) => next({ greeting: `hi ${ctx.user.name}` }));
  both.onTimer("remind", (ctx) => {
    expectTypeOf(ctx.user).toEqualTypeOf<User>();
    expectTypeOf(ctx.greeting).toBeString();
    expectTypeOf(ctx.payload.name).toBeString();
  });
});

test("a field that one way through a middleware leaves out may not be used", () => {
  const router = new Router();
  const perhaps = router.use(async (ctx, next) => {
    if (ctx.attempt > 1) return next();
    return next({ user });
  });
  // @ts-expect-error The second run has no user.
  perhaps.on("mention", (ctx) => ctx.user);
  const ends = router.use(async (ctx, next) => {
    if (ctx.attempt > 1) return;
    return next({ user });
  });
  // If the middleware does not call next(), the event ends there, so later handlers always have a user.
  ends.on("mention", (ctx) => expectTypeOf(ctx.user).toEqualTypeOf<User>());
  // @ts-expect-error The middleware does not return the result of next().
  router.use(async (_ctx, next) => void (await next({ user }))).on("mention", (ctx) => ctx.user);
});

test("middleware of one handler adds to the context of that handler", () => {
  const router = new Router();
  router.on(
    ["mention", "reply"],
    (ctx, next) => {
      expectTypeOf(ctx.event.type).toEqualTypeOf<"mention" | "reply">();
      return next({ user });
    },
    (ctx, next) => next({ length: ctx.user.name.length }),
    (ctx) => expectTypeOf(ctx.length).toBeNumber(),
    { concurrency: 2 },
  );
  const plain: Middleware = (_ctx, next) => next();
  const old = async (_ctx: Context, next: () => Promise<void>): Promise<void> => await next();
  router
    .use(plain)
    .use(old)
    .on("like", old, (ctx) => expectTypeOf(ctx.event.type).toEqualTypeOf<"like">());
});

test("a module is mounted where the context has what it needs", () => {
  const admin = new Router<{ user: User }>();
  admin.command("ban", (ctx) => expectTypeOf(ctx.user).toEqualTypeOf<User>());
  // @ts-expect-error The bot's context has no user.
  const mount = () => new Bot({ env: {} }).use(admin);
  expect(mount).not.toThrow();
  const bot = new Bot({ env: {} }).use((_ctx, next) => next({ user })).use(new Router());
  expectTypeOf(bot.use(admin)).toExtend<Bot>();
});

test("a custom type needs a schema, and a known one none", () => {
  const router = new Router();
  const schema = z.object({ question: z.string() });
  router.on("poll.closed", schema, (ctx) => expectTypeOf(ctx.payload.question).toBeString());
  // @ts-expect-error There is no such field.
  router.on("poll.opened", schema, (ctx) => ctx.payload.answer);
  // @ts-expect-error The name of a known type is misspelt.
  expect(() => router.on("mentoin", () => undefined)).toThrow("Unknown event type");
});

test("the state of a bot is what its schema returns", () => {
  const bot = new Bot({ env: {}, state: z.object({ count: z.number().default(0) }) });
  expectTypeOf(bot).toEqualTypeOf<Bot<{ count: number }>>();
  bot.on("dm.message", async (ctx) => {
    const state = await ctx.state();
    expectTypeOf(state.count).toBeNumber();
  });
  const counting = new Router<{ state(key?: string): Promise<{ count: number }> }>();
  bot.use(counting);
  const create = (options: BotOptions = {}): Bot => new Bot({ ...options, state: z.object({}) });
  expect(create({ env: {} })).toBeInstanceOf(Bot);
  expect(() => new Bot({ env: {}, state: {} as never })).toThrow("state must be a Standard Schema");
});

test("a handler in its own file names its context", () => {
  interface State {
    count: number;
  }
  const onMessage = async (ctx: Context<"dm.message"> & WithState<State>) =>
    expectTypeOf((await ctx.state()).count).toBeNumber();
  const onCount = async (ctx: CommandContext & WithState<State>) =>
    ctx.reply(`${ctx.command.args}: ${(await ctx.state("all")).count}`);
  const onBuy = (ctx: CommandContext & { user: User }) => ctx.reply(ctx.user.name);
  const onHello = (ctx: HearsContext) => ctx.reply(ctx.match[0]);
  const onRemind = (ctx: TimerContext<"remind", { text: string }>) =>
    ctx.reply(ctx.payload.data.text);
  const onMorning = (ctx: CronContext) => ctx.post(ctx.payload.dueAt);
  const bot = new Bot({ env: {}, state: z.object({ count: z.number().default(0) }) });
  bot.on("dm.message", onMessage).command("count", onCount).hears("hello", onHello);
  bot.onTimer("remind", z.object({ text: z.string() }), onRemind);
  bot.cron("morning", "0 9 * * *", onMorning);
  bot.use((_ctx, next) => next({ user })).command("buy", onBuy);
  // @ts-expect-error A router has no state.
  const mount = () => new Router().command("count", onCount);
  expect(mount).not.toThrow();
});
