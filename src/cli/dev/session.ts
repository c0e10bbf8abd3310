import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { LineLimit } from "../../core/line-limit.ts";
import { bind } from "../../core/listen.ts";
import { hasCode, messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/index.ts";
import { CommandError } from "../command.ts";
import { BOT_PORT, localWebhookUrl, rereadDotEnv, variable } from "../environment.ts";
import { clockTime, printStyled } from "../output.ts";
import type { Keyboard } from "./keys.ts";
import { logFormatter, printTimeline } from "./lines.ts";
import { WaitingRetries } from "./waiting-retries.ts";
import { watchBot } from "./watch.ts";

/** Wait before a retry and between audits, in ms. Short enough for a developer to watch. */
export const RETRY_INTERVAL_MS = 5_000;

/** Maximum length of a line that the bot prints, in bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

export interface DevSessionOptions {
  readonly platform: Platform;
  readonly entry: string;
  /** The environment without the variables from `.env`. */
  readonly environment: NodeJS.ProcessEnv;
  readonly keyboard: Keyboard;
}

/**
 * Runs a bot with its platform. Restarts the bot after a change to `.env` or a source file, and when the app gets a new
 * token or secret.
 */
export class DevSession {
  readonly #options: DevSessionOptions;
  readonly #ended = Promise.withResolvers<void>();
  #bot: ChildProcess | undefined;
  readonly #waiting = new WaitingRetries();
  #secrets = "";
  #stopWatching: () => void = () => undefined;
  #restarted: Promise<void> = Promise.resolve();

  constructor(options: DevSessionOptions) {
    this.#options = options;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  webhook(port: number): string {
    return localWebhookUrl(Number.isNaN(port) ? undefined : port);
  }

  async start(port: number): Promise<void> {
    const { platform, entry, keyboard } = this.#options;
    printTimeline(platform, keyboard.say);
    platform.control.saveWebhook({ enabled: true, url: this.webhook(port) });
    await this.#startBot(port);
    const restart = (reason: string) => {
      this.#restarted = this.#restarted.then(() => this.#restart(reason));
    };
    const stopWatching = watchBot(entry, restart);
    const stopListening = platform.onTimeline((entry) => {
      const { kind } = entry;
      this.#waiting.add(entry, Date.now());
      if (kind !== "app" && kind !== "webhook" && kind !== "state") return;
      // If the last token is revoked, the bot keeps running and gets 401 responses.
      if (platform.apiKey === "" || secretsOf(platform) === this.#secrets) return;
      this.#secrets = secretsOf(platform);
      restart("the app has a new token or secret");
    });
    this.#stopWatching = () => {
      stopWatching();
      stopListening();
    };
  }

  async stop(): Promise<void> {
    this.#stopWatching();
    await this.#restarted;
    await this.#stopBot();
  }

  async #restart(reason: string): Promise<void> {
    const { platform, environment, keyboard } = this.#options;
    keyboard.say(`${clockTime(Date.now())} ${reason}; restarting the bot`);
    await this.#stopBot();
    try {
      rereadDotEnv(environment);
      const { port } = await chooseBotPort();
      const url = this.webhook(port);
      if (platform.control.webhook.url !== url) platform.control.saveWebhook({ url });
      await this.#startBot(port);
      for (const line of this.#waiting.lines(Date.now())) keyboard.say(line);
    } catch (error) {
      keyboard.say(`${messageOf(error)} Fix .env and save it to start the bot.`);
    }
  }

  async #startBot(port: number): Promise<void> {
    const { platform, environment, entry, keyboard } = this.#options;
    this.#secrets = secretsOf(platform);
    const format = await logFormatter({
      colour: process.stdout.isTTY,
      webhook: this.webhook(port),
      isReporting: () => {
        const { bot, reportingBots } = platform.control.state();
        return reportingBots.includes(bot.username);
      },
    });
    const onLine = (text: string) => {
      const shown = format(text);
      if (shown !== undefined) keyboard.printAbove(() => printStyled(shown));
    };
    const bot = spawn(process.execPath, ["--import", "service-bot/env", entry], {
      env: { ...environment, ...botEnvironment(platform, port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#bot = bot;
    const onLong = () => onLine(`(A line of more than ${MAX_LINE_BYTES} bytes is not shown.)`);
    for (const output of [bot.stdout, bot.stderr]) {
      const input = output.pipe(new LineLimit({ max: MAX_LINE_BYTES, onLong }));
      createInterface({ input }).on("line", onLine);
    }
    // "close" comes after the last line of output.
    bot.once("close", (code, signal) => {
      if (this.#bot !== bot || bot.pid === undefined) return;
      const how = signal === null ? `with code ${code}` : `after ${signal}`;
      onLine(`The bot exited ${how}. Save a file to start it again.`);
    });
    bot.once("error", (error) => {
      onLine(`Cannot start the bot: ${error.message}`);
      this.#ended.resolve();
    });
  }

  async #stopBot(): Promise<void> {
    const bot = this.#bot;
    this.#bot = undefined;
    // A process that could not be started has no id.
    if (bot?.pid === undefined || bot.exitCode !== null || bot.signalCode !== null) return;
    const exited = once(bot, "exit");
    bot.kill("SIGTERM");
    await exited;
  }
}

function secretsOf({ apiKey, webhookSecret }: Platform): string {
  return `${apiKey} ${webhookSecret}`;
}

/**
 * Returns the bot's environment for this platform. Audits are frequent, so that a developer sees the bot switch to
 * polling within seconds.
 */
function botEnvironment(platform: Platform, port: number): Record<string, string> {
  return {
    SERVICE_BASE_URL: platform.url,
    // If the app has no token, the bot uses the token in .env and gets 401 responses.
    ...(platform.apiKey === "" ? {} : { SERVICE_API_KEY: platform.apiKey }),
    SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
    ...(Number.isNaN(port) ? {} : { PORT: String(port) }),
    // Each save restarts the bot, and no load balancer needs time to notice.
    DRAIN_MS: "0",
    AUDIT_INTERVAL_MS: variable("AUDIT_INTERVAL_MS") ?? String(RETRY_INTERVAL_MS),
    SILENCE_MS: variable("SILENCE_MS") ?? String(RETRY_INTERVAL_MS * 1.5),
  };
}

export interface ChosenPort {
  readonly port: number;
  readonly occupiedPort?: number;
}

/**
 * Chooses the bot's port: PORT, or the first free port from 3000 up.
 *
 * @throws {CommandError} if PORT is set and in use
 */
export async function chooseBotPort(): Promise<ChosenPort> {
  const host = variable("HOST") ?? "127.0.0.1";
  const chosen = variable("PORT");
  if (chosen === undefined) {
    const port = await findFreePort(host, BOT_PORT);
    return port === BOT_PORT ? { port } : { port, occupiedPort: BOT_PORT };
  }
  const port = Number(chosen);
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (!isPort || (await isFree(host, port))) return { port };
  throw new CommandError(
    `Another program uses port ${port} (PORT). Stop it, or set PORT to another port.`,
  );
}

const MAX_PORT_TRIES = 50;

/**
 * Returns the first free port from `port` up. If no port is free or the host is invalid, returns `port`, so that
 * listening on it reports the problem.
 *
 * @param port 0 lets the system choose
 */
export async function findFreePort(host: string, port: number): Promise<number> {
  const last = Math.min(port + MAX_PORT_TRIES - 1, 65_535);
  for (let candidate = port; candidate <= last; candidate += 1) {
    if (await isFree(host, candidate)) return candidate;
  }
  return port;
}

/** Returns true if no program is listening on the port, even if the port is unusable for another reason. */
async function isFree(host: string, port: number): Promise<boolean> {
  if (port === 0) return true;
  const server = createServer();
  try {
    await bind(server, host, port, { names: "HOST, PORT", remedy: "" });
  } catch (error) {
    return !hasCode(error, "ADDRESS_IN_USE");
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
