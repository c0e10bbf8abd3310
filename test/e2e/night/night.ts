import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { serviceBotEnds } from "../../cli/cli.ts";
import type { WrittenStatus } from "../../faces/observe.ts";
import type { Platform, PlatformOptions } from "../../faces/platform.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { BotProcess } from "../../support/world/bot-process.ts";
import { type Fired, firedIn } from "./alerts.ts";
import { type Night, readScrape, type Scrape } from "./series.ts";

const BOT = fileURLToPath(new URL("./bot.ts", import.meta.url));

/** Consecutive failures after which the platform disables the webhook. */
export const DISABLE_AFTER = 3;

export const TEST_MS = 90_000;

/**
 * Time between two scrapes during a fault, in ms. Many times the interval between reads of the log, so that an age that
 * keeps growing stands out.
 */
const APART_MS = 2_000;

/** Timeout for a status, in ms. Allows for a machine that is busy with other tests. */
const TIMEOUT_MS = 20_000;

/** Intervals and timeouts short enough for a test. */
const hurried = {
  POLL_INTERVAL_MS: "50",
  AUDIT_INTERVAL_MS: "100",
  SILENCE_MS: "2000",
  MAX_ATTEMPTS: "2",
};

interface Diagnosis {
  readonly code: number | null;
  readonly findings: readonly {
    readonly area: string;
    readonly level: string;
    readonly what: string;
    readonly remedy?: string;
  }[];
}

/** One night: a platform, a bot with metrics in a separate process, and the commands that the owner runs. */
export class NightShift {
  readonly platform: Platform;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #bot: BotProcess | undefined;
  #calm: Scrape | undefined;
  #seen: Pick<Night, "fault" | "later" | "elapsed"> | undefined;
  #metricsUrl = "";

  private constructor(platform: Platform, folder: string, env: Record<string, string>) {
    this.platform = platform;
    this.#folder = folder;
    this.#env = env;
  }

  /**
   * Starts a bot that replies to a message from the webhook, and scrapes its metrics.
   *
   * @param databaseFolder folder of the inbox. Default: a new folder
   */
  static async begin(
    options: PlatformOptions = {},
    databaseFolder: string = temporaryFolder(),
  ): Promise<NightShift> {
    const platform = await runPlatform({
      retryIntervalMs: 150,
      disableAfter: DISABLE_AFTER,
      ...options,
    });
    const port = await reservePort();
    const night = new NightShift(platform, temporaryFolder(), {
      ...hurried,
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      DATABASE_URL: `file:${join(databaseFolder, "bot.db")}`,
      PORT: String(port),
      METRICS_PORT: "0",
    });
    await night.start();
    night.saveWebhook();
    await night.answered(night.write("all is well"));
    await night.until((status) => status.mode === "auditing" && status.inbox?.pending === 0);
    night.#calm = await night.scrape();
    return night;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#env["PORT"]}`;
  }

  async start(change: Record<string, string> = {}): Promise<void> {
    Object.assign(this.#env, change);
    const lines = Object.entries(this.#env).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.#folder, ".env"), lines.join(""), { mode: 0o600 });
    this.#bot = new BotProcess(this.platform, { script: BOT, cwd: this.#folder, env: this.#env });
    const { metrics } = await this.#bot.ready();
    this.#metricsUrl = String(metrics);
  }

  /** Stops the bot as a deployment does, and restarts it with these changes in its `.env`. */
  async restart(change: Record<string, string>): Promise<void> {
    await this.#bot?.stop();
    await this.start(change);
  }

  /** Saves the webhook as the owner does in the portal. Saving enables the webhook and resets its failure count. */
  saveWebhook(): void {
    this.platform.control.saveWebhook({ url: `${this.url}/webhook` });
  }

  /** Each user has a separate conversation. Returns the message's text. */
  write(text: string, from = "ada"): string {
    this.platform.control.act({ type: "dm.message", from, text });
    return text;
  }

  async answered(text: string): Promise<void> {
    const answer = `answer to ${text}`;
    await this.platform.waitFor("api", (entry) => entry.text === answer && entry.status === 201);
    const items = this.platform.control.conversations().items;
    const said = items.flatMap(({ id }) => this.platform.control.messages(id));
    expect(said.filter((message) => message.text === answer)).toHaveLength(1);
  }

  async scrape(): Promise<Scrape> {
    return readScrape(await (await fetch(this.#metricsUrl)).text());
  }

  async status(): Promise<Status> {
    const headers = { authorization: `Bearer ${this.#env["SERVICE_API_KEY"]}` };
    return (await (await fetch(`${this.url}/readyz?verbose`, { headers })).json()) as Status;
  }

  until(fits: (status: Status) => boolean): Promise<Status> {
    const look = async () => {
      const status = await this.status();
      if (!fits(status)) throw new Error(`not yet: ${JSON.stringify(status)}`);
      return status;
    };
    return vi.waitFor(look, { timeout: TIMEOUT_MS, interval: 20 });
  }

  async doctor(...flags: readonly string[]): Promise<Diagnosis> {
    const { code, out, err } = await this.#type("doctor", "--json", ...flags);
    if (!out.startsWith("{")) throw new Error(`the doctor said: ${out}${err}`);
    return { code, findings: JSON.parse(out).findings };
  }

  async expectDoctorFailure(
    finding: { readonly [field in "area" | "what" | "remedy"]: unknown },
  ): Promise<void> {
    const { code, findings } = await this.doctor();
    expect(code).toBe(1);
    expect(findings).toContainEqual({ level: "fail", ...finding });
  }

  async inbox(...words: readonly string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.#type("inbox", ...words, "--json");
    if (code !== 0) throw new Error(`inbox ${words.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out);
  }

  /** Scrapes the metrics twice during the fault. */
  async lookAtFault(): Promise<void> {
    const fault = await this.scrape();
    const began = performance.now();
    // Keep the scrapes far enough apart for ages to grow.
    await this.until(() => performance.now() - began > APART_MS);
    const later = await this.scrape();
    this.#seen = { fault, later, elapsed: (performance.now() - began) / 1000 };
  }

  /**
   * Returns the alerts that Prometheus would fire, based on the metrics before the fault, during it and after `mend`.
   *
   * @param mend resolves once the bot works again
   */
  async fires(mend: () => Promise<void>): Promise<Fired> {
    if (this.#calm === undefined || this.#seen === undefined) throw new Error("nobody has looked");
    await mend();
    await this.until(({ ready, inbox, mode }) => {
      return ready && inbox?.pending === 0 && mode === "auditing";
    });
    return await firedIn({ calm: this.#calm, ...this.#seen, mended: await this.scrape() });
  }

  /** Stops the bot permanently, so that its files are closed. */
  async end(): Promise<void> {
    await this.#bot?.die();
  }

  #type(...words: readonly string[]) {
    return serviceBotEnds(words, { cwd: this.#folder });
  }
}

export type Status = Omit<WrittenStatus, "inbox" | "log"> & {
  readonly inbox: Record<string, unknown> | null;
  readonly log: Record<string, unknown> | null;
};
