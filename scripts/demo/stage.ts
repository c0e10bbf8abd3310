import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { controlClient } from "../../src/cli/control.ts";
import type { TimelineRecord } from "../../src/platform/timeline/entries.ts";
import type { EntryOf } from "../../src/platform/timeline/timeline.ts";
import type { LogRecord } from "../../test/support/log.ts";
import { RemotePlatform, type Written } from "../../test/support/world/remote-platform.ts";
import { Process, within } from "./process.ts";
import { BrokenPromise } from "./report.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** Shorter intervals than the defaults, so that the demo takes less than 30 s. */
export const hurried = {
  POLL_INTERVAL_MS: "300",
  AUDIT_INTERVAL_MS: "1000",
  SILENCE_MS: "2000",
};
const PLATFORM_RETRY_MS = "500";

export const DISABLE_AFTER = 3;

export class Stage {
  readonly folder: string;
  readonly #processes = new Set<Process>();
  #env: Record<string, string> = {};
  #platform: RemotePlatform | undefined;
  #platformUrl = "";
  #seen = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async build(): Promise<Stage> {
    return new Stage(await mkdtemp(join(tmpdir(), "service-bot-demo-")));
  }

  get botFolder(): string {
    return join(this.folder, "my-bot");
  }

  get secret(): string {
    return this.#env.SERVICE_WEBHOOK_SECRET ?? "";
  }

  get platform(): RemotePlatform {
    if (this.#platform === undefined) throw new Error("the platform has not started");
    return this.#platform;
  }

  async scaffold(onLine: (line: string) => void): Promise<void> {
    const script = join(checkout, "create-bot.js");
    const child = spawn(process.execPath, [script, this.botFolder, "--yes", "--no-git"], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    createInterface({ input: child.stdout }).on("line", onLine);
    const [code] = await closed;
    if (code !== 0) throw new BrokenPromise(`create-bot.js ended with ${code}`);
    this.#env = parseEnv(await readFile(join(this.botFolder, ".env"), "utf8")) as Record<
      string,
      string
    >;
  }

  async startPlatform(): Promise<string> {
    const cli = "node_modules/service-bot/dist/cli/main.js";
    const rounds = ["--retry-interval", PLATFORM_RETRY_MS, "--disable-after", `${DISABLE_AFTER}`];
    const flags = ["--port", "0", "--json", ...rounds];
    const platform = this.#start("platform", [cli, "platform", ...flags], {});
    const { url, controlToken } = await platform.logs("its address", (line) => "url" in line);
    this.#platformUrl = String(url);
    const control = controlClient(this.#platformUrl, { controlToken: String(controlToken) });
    this.#platform = new RemotePlatform(control);
    return this.#platformUrl;
  }

  /**
   * Starts the bot.
   *
   * @param port the earlier port, if the bot is restarted
   */
  async startBot(port = "0"): Promise<{ readonly bot: Process; readonly webhook: string }> {
    const env = { ...hurried, SERVICE_BASE_URL: this.#platformUrl, PORT: port };
    const bot = this.#start("bot", ["--import", "service-bot/env", "src/main.ts"], env);
    const { webhook } = await bot.logs("ready", ({ msg }) => msg === "ready");
    return { bot, webhook: String(webhook) };
  }

  /** Waits for the first matching entry after those that this method has returned. */
  async happens<K extends TimelineRecord["kind"]>(
    what: string,
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
  ): Promise<EntryOf<K>> {
    const complaint = () => `did not happen on the platform: ${what}`;
    const entry = await within(this.platform.happens(kind, fits, this.#seen), complaint);
    this.#seen = entry.seq;
    return entry;
  }

  /** Resolves to the response to the next delivery of a message. */
  async delivered({ eventId }: Written): Promise<number | null> {
    const { status } = await this.happens("a delivery of the message", "delivery", (entry) =>
      entry.eventIds.includes(eventId),
    );
    return status;
  }

  async answered({ conversationId }: Written): Promise<string> {
    const { text = "" } = await this.happens(
      "a reply in the conversation",
      "api",
      ({ created }) => created?.conversationId === conversationId,
    );
    return text;
  }

  tails(): string {
    return [...this.#processes].map((process) => process.lastLines()).join("");
  }

  /** Kills the running processes and deletes the folder, unless a failure report refers to it. */
  async clear(keepFolder: boolean): Promise<void> {
    await Promise.allSettled([...this.#processes].map((process) => process.end("SIGKILL")));
    if (!keepFolder) await rm(this.folder, { recursive: true, force: true });
  }

  #start(name: string, args: readonly string[], env: Record<string, string>): Process {
    const started = new Process(name, args, this.botFolder, { ...this.#env, ...env });
    this.#processes.add(started);
    return started;
  }
}

export function handled(eventId: string): (line: LogRecord) => boolean {
  return ({ msg, event }) => msg === "handled" && event === eventId;
}
