import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Platform } from "../../../src/platform/index.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";
import { type BotSettings, usualSettings } from "../bot/settings.ts";
import { Balancer } from "./balancer.ts";
import { BotProcess, stopBot } from "./bot-process.ts";
import { check, lost, type Observed, type Rules } from "./checker.ts";
import { CursorAudit } from "./cursor-audit.ts";
import { InboxDatabase } from "./inbox-database.ts";
import { checkLeases, type JournalEntry, type Leases, readJournal } from "./journal.ts";
import { Ledger } from "./ledger.ts";
import { patientPlatform, usualEnv } from "./platform.ts";
import { untilSettled } from "./settling.ts";

export interface ClusterOptions {
  readonly instances?: number;
  /** Variables of the bots beyond the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Partial<BotSettings>;
}

/** The lanes are looked at this often while the bots work, in milliseconds. */
const LOOK_MS = 200;

/** There are many processes, so that the platform, which is in this one, may take its time; in milliseconds. */
const REQUEST_TIMEOUT_MS = 3_000;

const SCHEMA = "faults";

/** Several bots on one inbox in PostgreSQL, behind a load balancer that the platform delivers to. */
export class Cluster {
  readonly platform: Platform;
  readonly ledger: Ledger;
  readonly server: PostgresServer;
  /** Between the bots and the server. */
  readonly proxy: TcpProxy;
  readonly database: InboxDatabase;
  /** Broken promises that were seen on the way. */
  readonly violations: string[] = [];
  /** Milliseconds from the start of each bot that replaced another one until it was ready. */
  readonly readyMs: number[] = [];
  readonly #options: ClusterOptions;
  readonly #folder: string;
  readonly #ports: number[] = [];
  readonly #bots: BotProcess[] = [];
  readonly #cursors: CursorAudit;
  #balancer: Balancer | undefined;
  #ending = false;
  #watching: Promise<void> = Promise.resolve();

  private constructor(parts: {
    platform: Platform;
    server: PostgresServer;
    proxy: TcpProxy;
    options: ClusterOptions;
  }) {
    this.platform = parts.platform;
    this.server = parts.server;
    this.proxy = parts.proxy;
    this.#options = parts.options;
    this.#folder = mkdtempSync(join(tmpdir(), "service-bot-cluster-"));
    this.database = new InboxDatabase(this.server.url(), SCHEMA);
    this.#cursors = new CursorAudit(this.server.url(), SCHEMA);
    const { answers = usualSettings.answers } = this.#options.settings ?? {};
    this.ledger = new Ledger(this.platform, answers);
  }

  /** Resolves when all bots are ready, and the platform delivers to them. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const server = await PostgresServer.start("18");
    const proxy = await TcpProxy.open(server.port);
    // The load balancer has a bot's answer to wait for, and the next one's.
    const platform = await patientPlatform({ deliveryTimeoutMs: 6_000 });
    const cluster = new Cluster({ platform, server, proxy, options });
    try {
      await cluster.#begin();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  /** The bot that was started last at each place. */
  get bots(): readonly BotProcess[] {
    return this.#bots;
  }

  /** True once a promise is broken: to go on would only bury what there is to look at. */
  get broken(): boolean {
    return this.violations.length > 0;
  }

  /** Begins a life of the bot at this place, from 0 up. The one before must have ended. */
  spawn(place: number, settings: Partial<BotSettings> = {}): BotProcess {
    const { env = {}, settings: usual = {} } = this.#options;
    const url = `postgres://bot@127.0.0.1:${this.proxy.port}/postgres`;
    const own = { DATABASE_URL: url, DATABASE_SCHEMA: SCHEMA, PORT: String(this.#ports[place]) };
    const journalFile = this.#journalFile;
    const bot = new BotProcess(
      { ...usualEnv(this.platform), ...own, ...env },
      { requestTimeoutMs: REQUEST_TIMEOUT_MS, ...usual, journalFile, ...settings },
    );
    this.#bots[place] = bot;
    void bot.ready.then(() => bot.readyMs !== undefined && this.readyMs.push(bot.readyMs));
    void bot.exited.then(({ code, signal }) => {
      if (bot.killed || this.#ending) return;
      this.violations.push(`a bot ended by itself (${signal ?? code}):\n${bot.tail()}`);
    });
    return bot;
  }

  /** Stops one of the bots, which must end well. */
  async stop(bot: BotProcess): Promise<void> {
    await stopBot(bot, this.violations);
  }

  /** What the platform was told is kept must be in the database. To be called while that can be asked. */
  async checkAcknowledged(moment: string): Promise<void> {
    const fresh = this.ledger.takeAcknowledged();
    if (fresh.length > 0) this.violations.push(...lost(await this.database.missing(fresh), moment));
  }

  /** Resolves once so many more answers were said, or some time has passed: the bots may be unable to. */
  async moreSaid(count: number, patienceMs: number): Promise<boolean> {
    const end = performance.now() + patienceMs;
    const enough = this.ledger.said + count;
    while (this.ledger.said < enough && performance.now() < end) await wait(5);
    return this.ledger.said >= enough;
  }

  /** The journal of all bots up to now. */
  journal(): JournalEntry[] {
    const there = statSync(this.#journalFile, { throwIfNoEntry: false }) !== undefined;
    return there ? readJournal(readFileSync(this.#journalFile, "utf8")) : [];
  }

  /** Waits for the rest to be handled, stops all bots, and checks everything. */
  async finish(rules: Rules = {}): Promise<{ observed: Observed; leases: Leases }> {
    const progress = () => this.database.progress();
    const goesOn = () => this.#bots.some(({ running }) => running);
    const reason = await untilSettled({ ledger: this.ledger, progress, goesOn });
    if (reason !== undefined) {
      const words = [...(await this.database.waiting()), ...this.#bots.map((bot) => bot.tail())];
      this.violations.push(
        `${reason || "no bot is left to settle anything"}:\n${words.join("\n")}`,
      );
    }
    this.#ending = true;
    await this.#watching;
    const running = this.#bots.filter((bot) => bot.running);
    await Promise.all(running.map((bot) => stopBot(bot, this.violations)));
    const { written, acknowledged } = this.ledger;
    const { stored, integrity } = await this.database.contents();
    const said = this.ledger.sayings();
    const observed = { written, acknowledged, said, stored, integrity };
    const leases = checkLeases(this.journal(), new Map(stored.map(({ id, fence }) => [id, fence])));
    const { violations } = await this.#cursors.end();
    this.violations.push(...check(observed, rules), ...leases.violations, ...violations);
    return { observed, leases };
  }

  async close(): Promise<void> {
    this.#ending = true;
    await this.#watching;
    await Promise.all(this.#bots.map((bot) => bot.end("SIGKILL")));
    await this.database.close();
    await this.#balancer?.stop();
    this.proxy.close();
    await this.platform.stop();
    await this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    const { instances = 3 } = this.#options;
    while (this.#ports.length < instances) this.#ports.push(await reservePort());
    const started = this.#ports.map((_, place) => this.spawn(place));
    for (const bot of started) {
      if ((await bot.ready) === undefined) throw new Error(`a bot did not start:\n${bot.tail()}`);
    }
    this.readyMs.length = 0;
    await this.#cursors.begin();
    this.#balancer = await Balancer.start(
      join(this.#folder, "nginx"),
      await reservePort(),
      this.#ports,
    );
    this.platform.control.saveWebhook({ url: `${this.#balancer.url}/webhook` });
    this.#watching = this.#watch();
  }

  /** What a moment of the database shows must be consistent at any time. */
  async #watch(): Promise<void> {
    while (!this.#ending && !this.broken) {
      const { stranded = 0, miscounted = 0 } = (await this.database.progress()) ?? {};
      if (stranded > 0) this.violations.push(`${stranded} lanes are stranded at one moment`);
      if (miscounted > 0) this.violations.push(`${miscounted} lanes miscount at one moment`);
      await wait(LOOK_MS);
    }
  }

  get #journalFile(): string {
    return join(this.#folder, "journal.txt");
  }
}
