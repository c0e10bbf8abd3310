import { subscribe } from "node:diagnostics_channel";
import { Bot } from "../../src/bot.ts";
import { answer } from "../harness/child.ts";
import { noteCommit } from "../harness/costs.ts";
import { monotonicNow } from "../support/clock.ts";
import { makeFolder } from "../support/folder.ts";
import { startOnPort, webhookEnv } from "../support/webhook-bot.ts";

/** Event number and start time of each handler run. */
export type Begun = readonly (readonly [number: number, at: number])[];

/** The handler does nothing, records its start time, or sends a message to the platform. */
type Handler = "nothing" | "notes" | "replies";

export interface BotSetting {
  readonly handler: Handler;
  /**
   * Whether the platform can be reached. Default `here`: a stand-in responds with the bot's profile and an empty event
   * log. Ignored if `env` has a `SERVICE_BASE_URL`.
   */
  readonly platform?: "here" | "away";
  /** True to count commits for `stopCosts`. */
  readonly countsCommits?: boolean;
  /** Environment variables added to those of {@link webhookEnv}. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Response to every request. */
const standIn = () =>
  Promise.resolve(Response.json({ username: "bench", events: [], cursor: "evt_000000000001" }));

const folder = makeFolder();
let bot: Bot;
let begun = new Map<number, number>();
let awaited: { readonly count: number; done(): void } | undefined;

const handlers = {
  start: async ({
    handler,
    platform = "here",
    env = {},
    countsCommits = false,
  }: BotSetting): Promise<string> => {
    const file = folder.file("bot.db");
    const database = `file:${file}`;
    if (countsCommits) subscribe("service-bot:transaction", () => noteCommit(file));
    const isHere = platform === "here" && env["SERVICE_BASE_URL"] === undefined;
    const own = isHere ? { fetch: standIn } : {};
    const environment = { ...webhookEnv(database, "warn"), ...env };
    bot = new Bot({ env: environment, ...own });
    if (handler === "nothing") bot.on("dm.message", () => Promise.resolve());
    if (handler === "replies")
      bot.on("dm.message", (ctx) => ctx.reply(`You said: ${ctx.payload.excerpt}`));
    if (handler === "notes") {
      bot.on("dm.message", (ctx) => {
        const at = monotonicNow();
        begun.set(Number(ctx.event.id.slice("evt_".length)), at);
        if (begun.size === awaited?.count) awaited.done();
      });
    }
    return await startOnPort(bot);
  },
  idle: (): Promise<void> => bot.idle(),
  /** Waits until `count` events have been handled and the bot is idle, then resets the count. */
  handled: async (count: number): Promise<Begun> => {
    await new Promise<void>((resolve) => {
      awaited = { count, done: resolve };
      if (begun.size >= count) resolve();
    });
    await bot.idle();
    const all = [...begun];
    begun = new Map();
    return all;
  },
  now: (): number => monotonicNow(),
  stop: async (): Promise<void> => {
    await bot.stop();
    folder.remove();
  },
};

export type BotProcess = typeof handlers;

answer(handlers);
