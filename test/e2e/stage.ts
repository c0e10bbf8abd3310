import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serviceBot } from "../cli/cli.ts";
import { controlClient } from "../faces/cli.ts";
import type { WrittenStatus } from "../faces/observe.ts";
import type {
  EntryOf,
  Platform,
  RemoteControl,
  TimelineEntry,
  TimelineRecord,
} from "../faces/platform.ts";
import { first } from "../support/first.ts";
import { isSwitch } from "../support/log.ts";
import { TestProcess } from "../support/process.ts";
import { readStatus } from "../support/read-status.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BOT = fileURLToPath(new URL("./answering-bot.ts", import.meta.url));

/** Number of consecutive failures after which the platform disables the webhook. */
export const DISABLE_AFTER = 3;

const RETRY_MS = 150;

/**
 * Short enough for a test. The five seconds for which an event may be in flight are added, and are not configurable.
 */
const hurried = { POLL_INTERVAL_MS: "50", AUDIT_INTERVAL_MS: "100", SILENCE_MS: "300" };

export interface Written {
  readonly eventId: string;
  readonly conversationId: string;
  readonly text: string;
}

type RunningPlatform = Pick<Platform, "url" | "apiKey" | "webhookSecret" | "controlToken">;

/** A local platform started with the CLI, and bots, each in a separate process. */
export class Stage {
  readonly control: RemoteControl;
  readonly #folder = temporaryFolder();
  readonly #platform: RunningPlatform;
  readonly #written: Written[] = [];
  #entries: TimelineEntry[] = [];

  private constructor(platform: RunningPlatform) {
    this.#platform = platform;
    this.control = controlClient(platform.url, platform);
  }

  static async build(): Promise<Stage> {
    const flags = ["--retry-interval", String(RETRY_MS), "--disable-after", String(DISABLE_AFTER)];
    const args = ["platform", "--port", "0", "--json", ...flags];
    const platform = serviceBot(args, { cwd: temporaryFolder() });
    return new Stage(JSON.parse(await platform.line((line) => line.startsWith("{"))));
  }

  async startBot(delivery: "auto" | "polling" | "webhook" = "auto"): Promise<BotProcess> {
    const { url, apiKey, webhookSecret } = this.#platform;
    const secret = delivery === "polling" ? {} : { SERVICE_WEBHOOK_SECRET: webhookSecret };
    const bot = new TestProcess([BOT], {
      bareEnv: true,
      env: {
        ...hurried,
        ...secret,
        SERVICE_BASE_URL: url,
        SERVICE_API_KEY: apiKey,
        DATABASE_URL: `file:${join(this.#folder, "bot.db")}`,
        PORT: "0",
        DELIVERY: delivery,
      },
    });
    const ready = await bot.message("ready");
    return new BotProcess(bot, String(ready.url), apiKey);
  }

  /** Saves the webhook as the owner does in the portal. Saving enables the webhook and resets its failure count. */
  async saveWebhook(bot: BotProcess): Promise<void> {
    await this.control.saveWebhook({ url: `${bot.url}/webhook` });
  }

  async write(from: string, text: string): Promise<Written> {
    const made = await this.control.act({ type: "dm.message", from, text });
    const { conversationId = "" } = made;
    const written = { eventId: first(made.events).id, conversationId, text };
    this.#written.push(written);
    return written;
  }

  /** Waits for the second of the two replies. */
  async answered({ text, conversationId }: Written): Promise<void> {
    await this.happens(
      "api",
      (entry) =>
        entry.text === `second answer to ${text}` &&
        entry.created?.conversationId === conversationId,
    );
  }

  /** Resolves to the first matching entry in the platform's timeline. Waits for one if necessary. */
  async happens<K extends TimelineRecord["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
    after = 0,
  ): Promise<EntryOf<K>> {
    const matches = (entry: TimelineEntry): entry is EntryOf<K> =>
      entry.seq > after && entry.kind === kind && fits(entry as EntryOf<K>);
    for (;;) {
      const found = this.#entries.find(matches);
      if (found !== undefined) return found;
      await this.#readTimeline(5_000);
    }
  }

  async happened<K extends TimelineRecord["kind"]>(kind: K): Promise<readonly EntryOf<K>[]> {
    await this.#readTimeline(0);
    return this.#entries.filter((entry): entry is EntryOf<K> => entry.kind === kind);
  }

  async reads(times: number): Promise<void> {
    let seq = (await this.control.state()).timelineSeq;
    for (let read = 0; read < times; read++) {
      ({ seq } = await this.happens("api", ({ path }) => path === "/events", seq));
    }
  }

  async answers(): Promise<readonly string[]> {
    const conversations = [...new Set(this.#written.map((written) => written.conversationId))];
    const messages = await Promise.all(conversations.map((id) => this.control.messages(id)));
    return messages
      .flat()
      .filter(({ fromBot }) => fromBot)
      .map(({ text }) => text)
      .sort();
  }

  get due(): readonly string[] {
    const texts = this.#written.map(({ text }) => text);
    return texts.flatMap((text) => [`first answer to ${text}`, `second answer to ${text}`]).sort();
  }

  async #readTimeline(waitMs: number): Promise<void> {
    const { entries } = await this.control.timeline(this.#entries.at(-1)?.seq ?? 0, waitMs);
    this.#entries = [...this.#entries, ...entries];
  }
}

/** A running bot as its owner can observe it, through its log and health checks. */
export class BotProcess {
  readonly url: string;
  readonly #process: TestProcess;
  readonly #apiKey: string;

  constructor(process: TestProcess, url: string, apiKey: string) {
    this.#process = process;
    this.url = url;
    this.#apiKey = apiKey;
  }

  takeover(): Promise<Record<string, unknown>> {
    return this.#process.logLine((line) => isSwitch(line) && line["mode"] === "polling");
  }

  handBack(): Promise<Record<string, unknown>> {
    return this.#process.logLine((line) => isSwitch(line) && line["mode"] !== "polling");
  }

  get switches(): readonly unknown[] {
    return this.#process.logLines.filter(isSwitch).map((line) => line["mode"]);
  }

  async status(): Promise<WrittenStatus> {
    return await readStatus(this.url, this.#apiKey);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }

  /** Stops the bot as a deployment does. It must exit with code 0. */
  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    const { code } = await this.#process.exited;
    if (code !== 0) throw new Error(`the bot exited with ${code}:\n${this.#process.output()}`);
  }
}
