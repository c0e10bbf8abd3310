import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Platform, PlatformOptions } from "../../../src/platform/index.ts";
import type { BotSettings } from "../bot/settings.ts";
import { usualSettings } from "../bot/settings.ts";
import { BotProcess, type Exit, stopBot } from "./bot-process.ts";
import { check, lost, type Observed, type Rules } from "./checker.ts";
import { InboxFile } from "./inbox-file.ts";
import { Ledger } from "./ledger.ts";
import { patientPlatform, usualEnv } from "./platform.ts";
import { type Run, readRuns } from "./runs.ts";
import { untilSettled } from "./settling.ts";

export interface WorldOptions {
  readonly platform?: PlatformOptions;
  /** Variables of the bot beyond the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<BotSettings>;
  /** Who delivers to the webhook. Default the platform. */
  readonly deliveries?: "platform" | "driver";
  /** Where the inbox lies, instead of a folder of its own. */
  readonly folder?: string;
  /** Lets the bot write down each run of a handler. */
  readonly recordRuns?: boolean;
}

/** A platform, a bot with its inbox, and the ledger of what happens between them. */
export class World {
  readonly platform: Platform;
  readonly ledger: Ledger;
  /** Where the inbox is. */
  folder: string;
  inbox: InboxFile;
  /** Broken promises that were seen on the way. */
  readonly violations: string[] = [];
  /** Milliseconds from the start of each bot until it was ready. */
  readonly readyMs: number[] = [];
  readonly #options: WorldOptions;
  readonly #bots = new Set<BotProcess>();

  private constructor(platform: Platform, options: WorldOptions) {
    this.platform = platform;
    this.#options = options;
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), "service-bot-faults-"));
    this.inbox = new InboxFile(join(this.folder, "bot.db"));
    this.ledger = new Ledger(platform, options.settings?.answers ?? usualSettings.answers);
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const platform = await patientPlatform(options.platform, options.deliveries !== "driver");
    return new World(platform, options);
  }

  /** Begins a life of the bot. Once it is ready, the platform is told where it listens. */
  spawn(settings: Partial<BotSettings> = {}): BotProcess {
    const { env = {}, settings: usual = {}, recordRuns = false } = this.#options;
    const runs = recordRuns ? { runsFile: this.#runsFile } : {};
    const bot = new BotProcess({ ...this.#botEnv(), ...env }, { ...usual, ...runs, ...settings });
    this.#bots.add(bot);
    // A port of its own for each life: the one before may be taken by the time it is wanted again.
    void bot.ready.then((url) => {
      if (url === undefined) return;
      if (bot.readyMs !== undefined) this.readyMs.push(bot.readyMs);
      if (bot.running && this.#options.deliveries !== "driver")
        this.platform.control.saveWebhook({ url: `${url}/webhook` });
    });
    void bot.exited.then(() => this.#bots.delete(bot));
    return bot;
  }

  /** A bot that is ready. @throws when it ends before that */
  async boot(settings: Partial<BotSettings> = {}): Promise<BotProcess> {
    const bot = this.spawn(settings);
    if ((await bot.ready) !== undefined) return bot;
    throw new Error(`the bot ended before it was ready:\n${bot.tail()}`);
  }

  /** From now on the inbox is in another folder, and the one that it was in is gone. */
  moveTo(folder: string): void {
    this.inbox.close();
    rmSync(this.folder, { recursive: true, force: true });
    this.folder = folder;
    this.inbox = new InboxFile(join(folder, "bot.db"));
  }

  /** True once a promise is broken: to go on would only bury what there is to look at. */
  get broken(): boolean {
    return this.violations.length > 0;
  }

  /** To be called when a bot has just died: what it acknowledged must be on disk. */
  checkAcknowledged(moment: string): void {
    const fresh = this.ledger.takeAcknowledged();
    if (fresh.length > 0) this.violations.push(...lost(this.inbox.missing(fresh), moment));
  }

  /** Resolves when the inbox has everything that was written, and nothing of it is pending. */
  async settled(bot: BotProcess): Promise<void> {
    if (await this.#untilSettled(() => bot.running)) return;
    if (!bot.running) this.violations.push(`the bot ended by itself:\n${bot.tail()}`);
  }

  /** The same while somebody else restarts the bot, as long as `goesOn`. */
  async settledAcrossRestarts(goesOn: () => boolean): Promise<void> {
    await this.#untilSettled(goesOn);
  }

  async #untilSettled(goesOn: () => boolean): Promise<boolean> {
    const progress = async () => this.inbox.progress();
    const reason = await untilSettled({ ledger: this.ledger, progress, goesOn });
    if (reason !== undefined && reason !== "") this.violations.push(reason);
    return reason === undefined;
  }

  /** Stops the bot with SIGTERM, which must end in exit code 0. */
  async stop(bot: BotProcess): Promise<Exit> {
    return await stopBot(bot, this.violations);
  }

  /** Every run of a handler so far, where they are recorded. */
  runs(): Run[] {
    return readRuns(readFileSync(this.#runsFile, "utf8"));
  }

  /** What can be seen now that no bot runs any more. */
  observe(): Observed {
    const { written, acknowledged } = this.ledger;
    return { written, acknowledged, said: this.ledger.sayings(), ...this.inbox.contents() };
  }

  /** Waits for the rest to be handled, stops the bot, and checks everything. */
  async finish(bot: BotProcess, rules: Rules = {}): Promise<Observed> {
    await this.settled(bot);
    await this.stop(bot);
    const observed = this.observe();
    this.violations.push(...check(observed, rules));
    return observed;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#bots].map((bot) => bot.end("SIGKILL")));
    this.inbox.close();
    await this.platform.stop();
    if (this.#options.folder === undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  get #runsFile(): string {
    return join(this.folder, "runs.txt");
  }

  #botEnv(): Record<string, string> {
    return { ...usualEnv(this.platform), DATABASE_URL: `file:${join(this.folder, "bot.db")}` };
  }
}
