import { messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/index.ts";
import { localWebhookUrl, rereadDotEnv } from "../dot-env.ts";
import { printLine, printStyled } from "../output.ts";
import { botEnvironment, chooseBotPort } from "./bot-environment.ts";
import { BotRunner } from "./bot-runner.ts";
import type { InputLine } from "./input-line.ts";
import { logFormatter } from "./log-lines.ts";
import { clockTime, tellTimeline } from "./timeline-lines.ts";
import { watchDotEnv } from "./watch-dot-env.ts";

export interface DevSessionOptions {
  readonly platform: Platform;
  /** The file that starts the bot. */
  readonly entry: string;
  /** The environment of this process without `.env`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly line: InputLine;
}

/** A bot beside its platform. The bot starts again with its new environment when `.env` changes. */
export class DevSession {
  readonly #options: DevSessionOptions;
  readonly #runner: BotRunner;
  #format: (line: string) => string | undefined = (line) => line;
  #stopWatching: () => void = () => undefined;
  #restarted: Promise<void> = Promise.resolve();

  constructor(options: DevSessionOptions) {
    this.#options = options;
    const { entry, line } = options;
    this.#runner = new BotRunner({
      entry,
      onLine: (text) => {
        const shown = this.#format(text);
        if (shown !== undefined) line.printAbove(() => printStyled(shown));
      },
    });
  }

  /** Resolves when the bot has ended by itself. */
  get ended(): Promise<void> {
    return this.#runner.ended;
  }

  /** Prints one line above the one in which the user types. */
  readonly say = (text: string): void => {
    this.#options.line.printAbove(() => printLine(text));
  };

  /** The address at which the bot takes deliveries. */
  webhook(port: number): string {
    return localWebhookUrl(Number.isNaN(port) ? undefined : port);
  }

  async start(port: number): Promise<void> {
    const { platform } = this.#options;
    tellTimeline(platform, this.say);
    platform.control.saveWebhook({ enabled: true, url: this.webhook(port) });
    await this.#run(port);
    this.#stopWatching = watchDotEnv(() => {
      this.#restarted = this.#restarted.then(() => this.#restart());
    });
  }

  async stop(): Promise<void> {
    this.#stopWatching();
    await this.#restarted;
    await this.#runner.stop();
  }

  async #restart(): Promise<void> {
    const { platform, environment } = this.#options;
    this.say(`${clockTime(Date.now())} .env has changed, and the bot starts again`);
    await this.#runner.stop();
    try {
      rereadDotEnv(environment);
      const { port } = await chooseBotPort();
      const url = this.webhook(port);
      if (platform.control.webhook.url !== url) platform.control.saveWebhook({ url });
      await this.#run(port);
    } catch (error) {
      this.say(`${messageOf(error)} The bot starts once .env is saved again.`);
    }
  }

  async #run(port: number): Promise<void> {
    const { platform, environment } = this.#options;
    this.#format = await logFormatter({
      colour: process.stdout.isTTY,
      webhook: this.webhook(port),
      isReporting: () => {
        const { bot, reportingBots } = platform.control.state();
        return reportingBots.includes(bot.username);
      },
    });
    this.#runner.start({ ...environment, ...botEnvironment(platform, port) });
  }
}
