import { Bot, type BotOptions } from "service-bot";

export interface Model {
  /** Rejects if the signal aborts. */
  answer(prompt: string, signal: AbortSignal): Promise<string>;
}

/** Answers from the last hour, by prompt. They are lost when the process ends. */
class Cache {
  readonly #answers = new Map<string, { readonly text: string; readonly at: number }>();

  async get(prompt: string, make: () => Promise<string>): Promise<string> {
    const known = this.#answers.get(prompt);
    if (known !== undefined && Date.now() - known.at < 3_600_000) return known.text;
    const text = await make();
    this.#answers.set(prompt, { text, at: Date.now() });
    return text;
  }
}

export function createBot(model: Model, options: BotOptions = {}): Bot {
  const bot = new Bot(options);
  const cache = new Cache();
  bot.hears(/.+/s, async (ctx) => {
    // The whole text without the bot's name.
    const prompt = ctx.match[0];
    const ask = () => cache.get(prompt, () => model.answer(prompt, ctx.signal));
    // A retry gets the recorded answer.
    const text = await ctx.step("answer", ask, { repeatable: true });
    await ctx.reply(text);
  });
  // Runs for events without text. The options apply to both event types, so they also apply to hears.
  bot.on(["dm.message", "mention"], (ctx) => ctx.reply("Ask me something."), {
    timeoutMs: 180_000,
    concurrency: 4,
    maxAttempts: 3,
  });
  return bot;
}
