import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { WrittenStatus } from "../../faces/observe.ts";
import type { Platform } from "../../faces/platform.ts";
import { isSwitch, type LogRecord } from "../log.ts";
import { TestProcess } from "../process.ts";
import { envOf, type Store, sqlite } from "./stores.ts";

/** Address and keys of a platform. Without a secret, a bot has no webhook. */
export type PlatformAccess = Pick<Platform, "url" | "apiKey"> &
  Partial<Pick<Platform, "webhookSecret">>;

export interface BotProcessOptions {
  /** Default: a bot that replies to each message twice, see {@link answersTo} */
  readonly script?: string;
  /** Flags for Node. */
  readonly flags?: readonly string[];
  /** Default: a file in a new folder */
  readonly store?: Store;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const ANSWERING = fileURLToPath(new URL("./answering-bot.ts", import.meta.url));

export function answersTo(text: string): [string, string] {
  return [`first answer to ${text}`, `second answer to ${text}`];
}

/** A bot in a separate process, as its owner observes it: by its log, its health checks and its exit. */
export class BotProcess extends TestProcess {
  readonly #apiKey: string;
  #url = "";

  constructor(platform: PlatformAccess, options: BotProcessOptions = {}) {
    const { webhookSecret } = platform;
    const { script = ANSWERING, flags = [], store = sqlite(), env, ...more } = options;
    super([...flags, script], {
      bareEnv: true,
      ...more,
      env: {
        SERVICE_BASE_URL: platform.url,
        SERVICE_API_KEY: platform.apiKey,
        ...(webhookSecret === undefined ? {} : { SERVICE_WEBHOOK_SECRET: webhookSecret }),
        PORT: "0",
        ...envOf(store),
        ...env,
      },
    });
    this.#apiKey = platform.apiKey;
  }

  /** Starts a bot, and resolves once it listens. */
  static async start(...given: ConstructorParameters<typeof BotProcess>): Promise<BotProcess> {
    const bot = new BotProcess(...given);
    await bot.ready();
    return bot;
  }

  /** Resolves to the line with the addresses. */
  async ready(): Promise<LogRecord> {
    const line = await this.message("ready");
    this.#url = String(line["url"]);
    return line;
  }

  /** Address of the bot. Empty until it is ready. */
  get url(): string {
    return this.#url;
  }

  switchTo(mode: "polling" | "auditing"): Promise<LogRecord> {
    return this.logLine((line) => isSwitch(line) && line["mode"] === mode);
  }

  get switches(): readonly unknown[] {
    return this.logLines.filter(isSwitch).map((line) => line["mode"]);
  }

  /** Resolves to a status taken after this call. May have to wait, because the bot caches its status for a second. */
  async status(): Promise<WrittenStatus> {
    const asked = Date.now();
    const headers = { authorization: `Bearer ${this.#apiKey}` };
    for (;;) {
      const response = await fetch(`${this.url}/readyz?verbose`, { headers });
      const status = (await response.json()) as WrittenStatus;
      if (Date.parse(String(status.at)) >= asked) return status;
      await wait(50);
    }
  }

  /** Stops the bot as a deployment does. @throws {Error} if its exit code is not 0 */
  async stop(): Promise<void> {
    const { code } = await this.end("SIGTERM");
    if (code !== 0) throw new Error(`the bot exited with ${code}:\n${this.output()}`);
  }
}
