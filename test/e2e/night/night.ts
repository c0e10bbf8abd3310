import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { serviceBotEnds } from "../../cli/cli.ts";
import type { WrittenStatus } from "../../faces/observe.ts";
import type { Platform, PlatformOptions } from "../../faces/platform.ts";
import { TestProcess } from "../../support/process.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Fired, firedIn } from "./alerts.ts";
import { type Night, readScrape, type Scrape } from "./series.ts";

const BOT = fileURLToPath(new URL("./bot.ts", import.meta.url));

/** Failures in a row after which the platform switches the webhook off. */
export const DISABLE_AFTER = 3;

/** For a whole night, in milliseconds. */
export const TEST_MS = 90_000;

/** Between two looks at a fault, in milliseconds: many times as long as the log is left unread when all is well. */
const APART_MS = 2_000;

/** How long a status may take to come, in milliseconds: a machine that is busy with other tests included. */
const PATIENCE_MS = 20_000;

/** Short enough for a test. */
const hurried = {
  POLL_INTERVAL_MS: "50",
  AUDIT_INTERVAL_MS: "100",
  SILENCE_MS: "2000",
  MAX_ATTEMPTS: "2",
};

/** What `service-bot doctor --json` says. */
interface Diagnosis {
  readonly code: number | null;
  readonly findings: readonly {
    readonly area: string;
    readonly level: string;
    readonly what: string;
    readonly remedy?: string;
  }[];
}

/** One night: a platform, a bot as a process of its own with its metrics, and what its owner types. */
export class NightShift {
  readonly platform: Platform;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #bot: TestProcess | undefined;
  #calm: Scrape | undefined;
  #seen: Pick<Night, "fault" | "later" | "elapsed"> | undefined;
  #metricsUrl = "";

  private constructor(platform: Platform, folder: string, env: Record<string, string>) {
    this.platform = platform;
    this.#folder = folder;
    this.#env = env;
  }

  /**
   * A bot that has answered a message from the webhook, and was looked at then.
   *
   * @param databaseFolder where its inbox is; a folder of its own by default
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

  /** Starts the bot; what is given is written into its `.env` first. */
  async start(change: Record<string, string> = {}): Promise<void> {
    Object.assign(this.#env, change);
    const lines = Object.entries(this.#env).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(this.#folder, ".env"), lines.join(""), { mode: 0o600 });
    const bot = new TestProcess([BOT], { cwd: this.#folder, bareEnv: true, env: this.#env });
    this.#bot = bot;
    const { metrics } = await bot.message("ready");
    this.#metricsUrl = String(metrics);
  }

  /** Ends it as a deployment does, and starts it anew with this in its `.env`. */
  async restart(change: Record<string, string>): Promise<void> {
    this.#bot?.kill("SIGTERM");
    expect(await this.#bot?.exited).toMatchObject({ code: 0 });
    await this.start(change);
  }

  /** What the bot's owner does in the portal: the webhook is on, and has no failures. */
  saveWebhook(): void {
    this.platform.control.saveWebhook({ url: `${this.url}/webhook` });
  }

  /** Somebody writes to the bot, each in a conversation of their own. Returns the text. */
  write(text: string, from = "ada"): string {
    this.platform.control.act({ type: "dm.message", from, text });
    return text;
  }

  /** Waits for the answer, and sees that it is the only one. */
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

  /** The first status that fits. */
  until(fits: (status: Status) => boolean): Promise<Status> {
    const look = async () => {
      const status = await this.status();
      if (!fits(status)) throw new Error(`not yet: ${JSON.stringify(status)}`);
      return status;
    };
    return vi.waitFor(look, { timeout: PATIENCE_MS, interval: 20 });
  }

  /** The doctor, as somebody types it in the bot's folder. */
  async doctor(...flags: readonly string[]): Promise<Diagnosis> {
    const { code, out, err } = await this.#type("doctor", "--json", ...flags);
    if (!out.startsWith("{")) throw new Error(`the doctor said: ${out}${err}`);
    return { code, findings: JSON.parse(out).findings };
  }

  /** Expects that the doctor fails, and that this is one of its findings. */
  async expectDoctorFailure(
    finding: { readonly [field in "area" | "what" | "remedy"]: unknown },
  ): Promise<void> {
    const { code, findings } = await this.doctor();
    expect(code).toBe(1);
    expect(findings).toContainEqual({ level: "fail", ...finding });
  }

  /** `service-bot inbox`, with `--json`. */
  async inbox(...words: readonly string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await this.#type("inbox", ...words, "--json");
    if (code !== 0) throw new Error(`inbox ${words.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out);
  }

  /** Looks at the fault, twice: before anybody asks the doctor, whose forged delivery counts as one. */
  async lookAtFault(): Promise<void> {
    const fault = await this.scrape();
    const began = performance.now();
    // Far enough apart that ages have grown.
    await this.until(() => performance.now() - began > APART_MS);
    const later = await this.scrape();
    this.#seen = { fault, later, elapsed: (performance.now() - began) / 1000 };
  }

  /**
   * What fires, as Prometheus would tell it: the bot as it was at first, as it was when the fault was looked at, and as
   * it is after `mend`.
   *
   * @param mend ends when the bot is well again
   */
  async fires(mend: () => Promise<void>): Promise<Fired> {
    if (this.#calm === undefined || this.#seen === undefined) throw new Error("nobody has looked");
    await mend();
    await this.until(({ ready, inbox, mode }) => {
      return ready && inbox?.pending === 0 && mode === "auditing";
    });
    return await firedIn({ calm: this.#calm, ...this.#seen, mended: await this.scrape() });
  }

  /** Ends the bot for good, so that nothing has its files open any more. */
  async end(): Promise<void> {
    this.#bot?.kill("SIGKILL");
    await this.#bot?.exited;
  }

  #type(...words: readonly string[]) {
    return serviceBotEnds(words, { cwd: this.#folder });
  }
}

/** As `/readyz?verbose` has it. */
export type Status = Omit<WrittenStatus, "inbox" | "log"> & {
  readonly inbox: Record<string, unknown> | null;
  readonly log: Record<string, unknown> | null;
};
