import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { CLI } from "../../faces/files.ts";
import type { ListenOptions, Platform } from "../../faces/platform.ts";
import { COMPILE_CACHE } from "../../support/process.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { type BotSettings, defaultSettings } from "../bot/protocol.ts";
import { Balancer } from "./balancer.ts";
import { BotUnderTest, type Life } from "./bot-under-test.ts";
import { check, type Observed, type Rules, type Run, reportLost } from "./checker.ts";
import { Ledger } from "./ledger.ts";
import { startPatientPlatform, usualEnv } from "./platform.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { untilSettled } from "./settle.ts";
import { SqliteStore, type Store } from "./store.ts";

export interface WorldOptions {
  readonly platform?: ListenOptions;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<BotSettings>;
  /** `driver`: the scenario itself sends the deliveries. Default: `platform`. */
  readonly deliveries?: "platform" | "driver";
  readonly folder?: string;
  /** Number of bots sharing an inbox. Default: 1 on SQLite, 3 on PostgreSQL. */
  readonly instances?: number;
  /** Default: starts the bot as a local process. */
  readonly launch?: (life: Life) => BotUnderTest;
}

/** Time without progress after which the remaining events count as lost, in ms. */
const STUCK_MS = 30_000;

const WATCH_INTERVAL_MS = 200;

/** Time limit for a bot to stop, in ms. A bot that takes longer is stuck. */
const STOP_TIMEOUT_MS = 30_000;

/** Bots sharing a store, the platform, and a ledger of everything the two sides sent. */
export class World<S extends Store = SqliteStore> {
  readonly platform: Platform;
  readonly ledger: Ledger;
  readonly store: S;
  /** Folder for all files except the inbox. */
  readonly scratch: string;
  readonly runsFile: string;
  readonly violations: string[] = [];
  /** How long each start of a bot took until it was ready, in ms. */
  readonly readyMs: number[] = [];
  /** Number of bots that {@link killInReply} has killed in the middle of a reply. `undefined` before its first call. */
  killsInReply: number | undefined;
  readonly bots: BotUnderTest[] = [];
  readonly #options: WorldOptions;
  readonly #ports: number[] = [];
  #settings: Partial<BotSettings>;
  #balancer: Balancer | undefined;
  #ending = false;
  #stuck = false;
  #watching: Promise<void> = Promise.resolve();

  private constructor(platform: Platform, store: S, scratch: string, options: WorldOptions) {
    this.platform = platform;
    this.store = store;
    this.scratch = scratch;
    this.#options = options;
    this.runsFile = join(scratch, "runs.txt");
    this.#settings = { runsFile: this.runsFile, ...store.settings, ...options.settings };
    this.ledger = new Ledger(platform, options.settings?.answers ?? defaultSettings.answers);
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const scratch = mkdtempSync(join(tmpdir(), "service-bot-faults-"));
    const store = new SqliteStore(options.folder ?? join(scratch, "inbox"));
    return new World(
      await startPatientPlatform(options.platform, options.deliveries),
      store,
      scratch,
      options,
    );
  }

  /** @param open opens the inbox. It may write to the folder that it is given. */
  static async startCluster<P extends PostgresStore>(
    open: (scratch: string) => Promise<P>,
    options: WorldOptions,
  ): Promise<World<P>> {
    const scratch = mkdtempSync(join(tmpdir(), "service-bot-cluster-"));
    const store = await open(scratch);
    // nginx may wait for one bot's response and then for the next bot's, so the platform must wait longer.
    const own = { deliveryTimeoutMs: 6_000, ...options.platform };
    const platform = await startPatientPlatform(own, options.deliveries);
    // Allow more time, because many processes share the machine with the platform.
    const settings = { requestTimeoutMs: 3_000, ...options.settings };
    const world = new World(platform, store, scratch, { ...options, settings });
    try {
      await world.#balance(options.instances ?? 3);
      await store.watchCursors();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Starts a bot. The platform delivers to it once it is ready. The previous bot with this index must have exited. */
  spawn(
    settings: Partial<BotSettings> = {},
    place = 0,
    env: Record<string, string> = {},
  ): BotUnderTest {
    const port = this.#ports[place];
    const { launch = BotUnderTest.start } = this.#options;
    const bot = launch({
      env: {
        ...usualEnv(this.platform),
        ...this.store.env,
        ...(port === undefined ? {} : { PORT: String(port) }),
        ...this.#options.env,
        ...env,
      },
      settings: { ...this.#settings, ...settings },
      place,
    });
    this.bots[place] = bot;
    void bot.ready.then((url) => {
      if (bot.readyMs !== undefined) this.readyMs.push(bot.readyMs);
      // A single bot gets a new port for each process, because its last port may be taken.
      const direct = port === undefined && this.#options.deliveries !== "driver";
      if (url !== undefined && direct && bot.running) this.#deliverTo(url);
    });
    void bot.exited.then(({ code, signal }) => {
      if (bot.killed || this.#ending || bot.failpoint !== undefined) return;
      this.violations.push(`a bot ended by itself (${signal ?? code}):\n${bot.lastLines()}`);
    });
    return bot;
  }

  async boot(...args: Parameters<World["spawn"]>): Promise<BotUnderTest> {
    const bot = this.spawn(...args);
    if ((await bot.ready) !== undefined) return bot;
    throw new Error(`the bot exited before it was ready:\n${bot.lastLines()}`);
  }

  async restart(settings: Partial<BotSettings>): Promise<void> {
    this.#settings = { ...this.#settings, ...settings };
    await Promise.all(this.bots.map((bot) => this.stop(bot)));
    await Promise.all(this.bots.map((_, place) => this.boot({}, place)));
  }

  async kill(bot: BotUnderTest, moment: string): Promise<void> {
    await bot.end("SIGKILL");
    await this.checkAcknowledged(moment);
  }

  /**
   * Kills a bot in the middle of a reply, when the platform has accepted the message but has not responded yet. If this
   * does not happen before `meanwhile` ends, kills the bot then.
   *
   * @param skipped number of replies that the bot may finish first
   */
  async killInReply(
    bot: BotUnderTest,
    moment: string,
    skipped: number,
    meanwhile: () => Promise<unknown>,
  ): Promise<void> {
    const ignore = this.ledger.onSaid(skipped, () => bot.kill("SIGKILL"));
    await meanwhile();
    ignore();
    this.killsInReply = (this.killsInReply ?? 0) + (bot.killed ? 1 : 0);
    await this.kill(bot, moment);
  }

  async stop(bot: BotUnderTest): Promise<void> {
    const timer = setTimeout(() => bot.kill("SIGKILL"), STOP_TIMEOUT_MS);
    const { code, signal } = await bot.end("SIGTERM");
    clearTimeout(timer);
    if (code === 0) return;
    this.violations.push(
      `SIGTERM ended in ${signal ?? code}, not in exit code 0:\n${bot.lastLines()}`,
    );
  }

  /** True once a promise is broken. Further faults would only hide the cause. */
  get broken(): boolean {
    return this.violations.length > 0;
  }

  async checkAcknowledged(moment: string): Promise<void> {
    const fresh = this.ledger.takeAcknowledged();
    if (fresh.length === 0) return;
    this.violations.push(...reportLost(await this.store.missing(fresh), moment));
  }

  async waitForMore(count: number, timeoutMs: number): Promise<boolean> {
    return await this.ledger.waitSaid(this.ledger.said + count, timeoutMs);
  }

  /** Waits for the next reply. Resolves to the time this took, in ms. */
  async recover(moment: string, timeoutMs: number): Promise<number> {
    const began = performance.now();
    if (!(await this.waitForMore(1, timeoutMs))) {
      this.violations.push(`there was no reply ${moment}`);
    }
    return performance.now() - began;
  }

  /** Waits until every event is stored and none is pending. Gives up once `goesOn` returns false. */
  async settle(goesOn: () => boolean = () => this.#isRunning): Promise<void> {
    if (this.#stuck) return;
    const stuck = await untilSettled(this.store, this.ledger, STUCK_MS, goesOn);
    if (stuck === undefined) return;
    this.#stuck = true;
    this.violations.push([stuck, ...this.bots.map((bot) => bot.lastLines())].join("\n"));
  }

  /** Runs `service-bot` on the bots' inbox. Resolves to its output. */
  async serviceBot(...args: readonly string[]): Promise<string> {
    const { PATH } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...this.store.env };
    const options = { cwd: this.scratch, env };
    return (await promisify(execFile)(process.execPath, [CLI, ...args], options)).stdout;
  }

  runs(): Run[] {
    const lines = readFileSync(this.runsFile, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [id = "", lane = "", late] = line.split(" ");
      return { id, lane, late: late === "true" };
    });
  }

  /** Starts a bot first if none is running. */
  async finish(rules: Rules = {}): Promise<Observed> {
    if (!this.#isRunning) await this.boot();
    // An inbox that deletes events never has all of them.
    if (rules.keeps !== "some events") await this.settle();
    this.#ending = true;
    await this.#watching;
    await Promise.all(this.bots.filter(({ running }) => running).map((bot) => this.stop(bot)));
    const observed = await this.ledger.observe(this.store);
    this.violations.push(...check(observed, rules));
    return observed;
  }

  async close(): Promise<void> {
    this.#ending = true;
    await this.#watching;
    await Promise.all(this.bots.map((bot) => bot.end("SIGKILL")));
    await this.#balancer?.stop();
    await this.platform.stop();
    await this.store.close();
    rmSync(this.scratch, { recursive: true, force: true });
  }

  get #isRunning(): boolean {
    return this.bots.some(({ running }) => running);
  }

  async #balance(instances: number): Promise<void> {
    while (this.#ports.length < instances) this.#ports.push(await reservePort());
    await Promise.all(this.#ports.map((_, place) => this.boot({}, place)));
    const folder = join(this.scratch, "nginx");
    this.#balancer = await Balancer.start(folder, await reservePort(), this.#ports);
    this.#deliverTo(this.#balancer.url);
    this.#watching = this.#watch();
  }

  #deliverTo(url: string): void {
    this.platform.control.saveWebhook({ url: `${url}/webhook` });
  }

  /** Checks the lanes repeatedly, because they must be consistent at all times. */
  async #watch(): Promise<void> {
    while (!this.#ending && !this.broken) {
      const { stranded = 0, miscounted = 0 } = (await this.store.progress()) ?? {};
      if (stranded > 0) this.violations.push(`${stranded} lanes are stranded`);
      if (miscounted > 0) this.violations.push(`${miscounted} lanes have the wrong count`);
      await wait(WATCH_INTERVAL_MS);
    }
  }
}
