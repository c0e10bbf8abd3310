/** An application that imports every entry of the package. */
export const strictApp = `
import "service-bot/env";
import {
  Bot, type BotOptions, ConfigError, type Context, eventTypes, GiveUp, type Handler, type KnownEvent, type Middleware, RetryLater,
  Router, sign, type StandardSchemaV1, verify,
} from "service-bot";
import { ApiError, Client, type ClientOptions, type Page, type Post } from "service-bot/client";
import { createPlatform, type Platform, PlatformError, startPlatform } from "service-bot/platform";
import { ManualClock, type SentByBot, TestPlatform, testBot } from "service-bot/testing";
import { z } from "zod";

const state = z.object({ count: z.number().default(0) });
const schema: StandardSchemaV1<unknown, { count: number }> = state;
const createBot = (options: BotOptions = {}) =>
  new Bot({ metricsPort: 0, retention: { bodiesMs: 1_000 }, ...options, state });
const bot = createBot();

const trace: Middleware = async (ctx, next) => {
  ctx.log.info({ type: ctx.event.type }, "handling");
  await next();
};
const answer: Handler<"mention"> = async (ctx) => {
  await ctx.reply({ text: ctx.payload.actor.name, images: [new Uint8Array()] });
};
bot.use(trace);
bot.on("mention", answer);
bot.on(["comment", "reply"], async (ctx) => {
  const id: string | undefined = ctx.payload.postId;
  if (id === undefined) throw new GiveUp("no post");
  await ctx.step("look up", async () => ({ id }));
});
bot.command("count", { description: "counts" }, async (ctx) => {
  const own = await ctx.state();
  own.count += 1;
  await ctx.later("remind", "10m", { text: ctx.command.args });
});
bot.onTimer("remind", z.object({ text: z.string() }), async (ctx) => {
  await ctx.reply(ctx.payload.data.text);
});
bot.cron("daily", "0 9 * * *", { timeZone: "Europe/Paris" }, async (ctx) => {
  await ctx.post(ctx.payload.dueAt);
});
bot.on("poll.closed", z.object({ winner: z.string() }), async (ctx) => {
  ctx.log.info(ctx.payload.winner);
});
bot.hears(/^roll (\\d+)$/, async (ctx) => {
  if (ctx.match[1] === undefined) throw new RetryLater(1_000);
});
bot.onError((error: unknown, ctx: Context) => {
  ctx.log.error({ error }, ctx.event.id);
});

export const router = new Router();
export const isKnown = (event: KnownEvent): boolean => eventTypes.includes(event.type);
export const header = sign(new Uint8Array(), "whsec_x", 0);
export const verdict = verify(new Uint8Array(), header, { secrets: ["whsec_x"], now: 0 });

const options: ClientOptions = { baseUrl: "https://platform.example", apiKey: "x" };
export async function read(): Promise<Page<Post>> {
  try {
    return await new Client(options).feed({ limit: 1 });
  } catch (error) {
    throw error instanceof ApiError ? new ConfigError([error.code]) : error;
  }
}

const platform: Platform = createPlatform({ fetch: (request) => bot.handle(request) });
export const served = (): Promise<Platform> => startPlatform({ port: 0 });
export const isRefused = (error: unknown): boolean => error instanceof PlatformError;
platform.onTimeline((entry) => entry.kind);

export async function tested(): Promise<readonly SentByBot[]> {
  const tested = await testBot(createBot, { now: "2026-11-23" });
  const { replies } = await tested.dm("/count", { from: "ada" });
  const clock: ManualClock = tested.clock;
  await clock.advance(replies.length);
  await tested.bot.stop();
  return [...tested.sent, ...new TestPlatform({ clock }).sent];
}
export { schema };
`;

/** Every option that makes the compiler stricter. */
const strict = {
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  declaration: true,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  forceConsistentCasingInFileNames: true,
  isolatedModules: true,
  noEmit: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  skipLibCheck: false,
  strict: true,
  verbatimModuleSyntax: true,
};

const nodenext = { ...strict, module: "nodenext", target: "es2024", types: ["node"] };

/** Compiler options of applications that Node runs directly, as either kind of module, and of those with a bundler. */
export const strictConfigs: readonly [string, object][] = [
  ["nodenext", nodenext],
  ["commonjs", { ...nodenext, verbatimModuleSyntax: false }],
  [
    "bundler",
    {
      ...{ ...strict, module: "preserve", moduleResolution: "bundler", target: "es2022" },
      ...{ lib: ["es2022", "dom"], types: [] },
    },
  ],
];
