import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { serviceBotEnds } from "../../cli/cli.ts";
import { sampleOf, withChunk } from "../../client/images/samples.ts";
import type { AttachedInbox } from "../../faces/inbox.ts";
import type { Platform } from "../../faces/platform.ts";
import { TestProcess } from "../../support/process.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Canary } from "./forms.ts";
import { type Indiscreet, indiscreet } from "./indiscreet.ts";

const BOT = fileURLToPath(new URL("./canary-bot.ts", import.meta.url));

export const song = (): string => `c4n4ry${randomBytes(10).toString("hex")}`;

/** Adds characters that must be escaped in JSON and URLs. */
export const phrase = (words: string): string => `"${words}" & löve\\s it`;

export interface Place {
  address(folder: string): string;
  /** Opens the inbox as `service-bot inbox` does. */
  open(address: string): Promise<Pick<AttachedInbox, "admin" | "close">>;
  readonly env?: Readonly<Record<string, string>>;
  /** Secrets in the database URL and the environment. */
  readonly canaries: readonly Canary[];
}

export interface Listening {
  readonly bot: TestProcess;
  readonly url: string;
  readonly metrics: string;
}

/** Texts by users and the bot, and text in an image. */
type Songs = Readonly<Record<"message" | "mention" | "comment" | "says" | "image", string>>;

/** Bots in separate processes, a platform behind an echoing proxy, and the output of both. */
export class Stage {
  readonly platform: Platform;
  readonly proxy: Indiscreet;
  readonly songs: Songs = {
    ...{ message: song(), mention: song(), comment: song() },
    ...{ says: song(), image: song() },
  };
  readonly oldSecret: string = `whsec_${song()}`;
  readonly env: Readonly<Record<string, string>>;
  readonly canaries: readonly Canary[];
  readonly runs: TestProcess[] = [];
  readonly #place: Place;
  readonly #folder = temporaryFolder();
  readonly #outputs: string[] = [];

  private constructor(platform: Platform, proxy: Indiscreet, place: Place) {
    this.platform = platform;
    this.proxy = proxy;
    this.#place = place;
    const { songs, oldSecret } = this;
    const { apiKey, webhookSecret } = platform;
    const statusToken = song();
    const image = withChunk(sampleOf("png"), "tEXt", Buffer.from(`Comment\0${songs.image}`));
    this.env = {
      SERVICE_BASE_URL: proxy.url,
      SERVICE_API_KEY: apiKey,
      SERVICE_WEBHOOK_SECRET: `${webhookSecret},${oldSecret}`,
      DATABASE_URL: place.address(this.#folder),
      PORT: "0",
      STATUS_TOKEN: statusToken,
      METRICS_PORT: "0",
      TRACING: "on",
      LOG_LEVEL: "trace",
      MAX_ATTEMPTS: "2",
      AUDIT_INTERVAL_MS: "100",
      POLL_INTERVAL_MS: "100",
      SILENCE_MS: "300",
      BOT_SAYS: phrase(songs.says),
      IMAGE: image.toString("base64"),
      ...place.env,
    };
    this.canaries = [
      ...Object.entries(songs).map(([name, text]) => ({ name, song: text })),
      { name: "token", song: apiKey },
      { name: "status token", song: statusToken },
      { name: "secret", song: webhookSecret.slice("whsec_".length) },
      { name: "old secret", song: oldSecret.slice("whsec_".length) },
      ...place.canaries,
    ];
  }

  static async set(place: Place): Promise<Stage> {
    const platform = await runPlatform({ retryIntervalMs: 200 });
    return new Stage(platform, await indiscreet(platform.url), place);
  }

  launch(change: Readonly<Record<string, string>> = {}): TestProcess {
    const env = { ...this.env, ...change };
    const bot = new TestProcess([BOT], { bareEnv: true, cwd: this.#folder, env });
    this.runs.push(bot);
    return bot;
  }

  /** Resolves once the bot is listening and the platform delivers to it. */
  async listening(bot: TestProcess): Promise<Listening> {
    const { url, metrics } = await bot.message("ready");
    this.platform.control.saveWebhook({ url: `${url}/webhook` });
    return { bot, url: String(url), metrics: String(metrics) };
  }

  async ask(url: string, init?: RequestInit): Promise<{ status: number; text: string }> {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const text = await response.text();
    this.#outputs.push(`${status} ${JSON.stringify([...headers])} ${text}`);
    return { status, text };
  }

  /** Runs `service-bot`, and keeps its output for the leak check, except the text that `without` removes. */
  async run(
    args: readonly string[],
    without = (out: string): string => out,
  ): Promise<{ readonly code: number | null; readonly out: string }> {
    const { code, out, err } = await serviceBotEnds(args, { cwd: this.#folder, env: this.env });
    this.#outputs.push(without(out), err);
    return { code, out };
  }

  keep(output: string): void {
    this.#outputs.push(output);
  }

  open(): ReturnType<Place["open"]> {
    return this.#place.open(this.env.DATABASE_URL ?? "");
  }

  everything(): string {
    return [...this.#outputs, ...this.runs.map((bot) => bot.output())].join("\n");
  }
}
