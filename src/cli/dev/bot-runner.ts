import { BotProcess, type BotProcessOptions } from "./bot-process.ts";

/** Runs the bot as one process after the other, each with an environment of its own. */
export class BotRunner {
  readonly #options: Omit<BotProcessOptions, "env">;
  readonly #ended = Promise.withResolvers<void>();
  #bot: BotProcess | undefined;

  constructor(options: Omit<BotProcessOptions, "env">) {
    this.#options = options;
  }

  /** Resolves when a process has ended that was not stopped. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  start(env: BotProcessOptions["env"]): void {
    const bot = new BotProcess({ ...this.#options, env });
    this.#bot = bot;
    void bot.exited.then(() => {
      if (this.#bot === bot) this.#ended.resolve();
    });
  }

  /** Stops the process. Can be called again. */
  async stop(): Promise<void> {
    const bot = this.#bot;
    this.#bot = undefined;
    await bot?.stop();
  }
}
