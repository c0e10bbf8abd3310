import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { controlClient } from "../../src/cli/control.ts";
import type { RemoteControl } from "../../src/platform/control/client.ts";
import type { TimelineEntry } from "../../src/platform/index.ts";
import type { LogRecord } from "../../test/support/log.ts";
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
  readonly conversations: Set<string> = new Set();
  readonly #processes = new Set<Process>();
  #env: Record<string, string> = {};
  #platformUrl = "";
  #controlToken = "";
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

  get control(): RemoteControl {
    return controlClient(this.#platformUrl, { controlToken: this.#controlToken });
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
    this.#controlToken = String(controlToken);
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

  async write(from: string, text: string): Promise<Written> {
    const { events, conversationId } = await this.control.act({ type: "dm.message", from, text });
    const [event] = events;
    if (event === undefined || conversationId === undefined)
      throw new Error("the action created no event");
    this.conversations.add(conversationId);
    return { eventId: event.id, conversationId };
  }

  async answers(conversationId: string): Promise<string[]> {
    const messages = await this.control.messages(conversationId);
    return messages.filter(({ fromBot }) => fromBot).map(({ text }) => text);
  }

  async answered({ conversationId }: Written): Promise<string> {
    const entry = await this.happens(
      "a reply in the conversation",
      (candidate) =>
        candidate.kind === "api" && candidate.created?.conversationId === conversationId,
    );
    return entry.kind === "api" ? (entry.text ?? "") : "";
  }

  async happens(what: string, fits: (entry: TimelineEntry) => boolean): Promise<TimelineEntry> {
    const search = async (): Promise<TimelineEntry> => {
      for (;;) {
        const { entries, last } = await this.control.timeline(this.#seen, 5_000);
        const found = entries.find(fits);
        this.#seen = found?.seq ?? last;
        if (found !== undefined) return found;
      }
    };
    return await within(search(), () => `did not happen on the platform: ${what}`);
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

export interface Written {
  readonly eventId: string;
  readonly conversationId: string;
}

export function handled(eventId: string): (line: LogRecord) => boolean {
  return ({ msg, event }) => msg === "handled" && event === eventId;
}
