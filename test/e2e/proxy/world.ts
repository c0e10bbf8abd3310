import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { controlClient } from "../../faces/cli.ts";
import { CLI } from "../../faces/files.ts";
import type { RemoteControl, TimelineEntry } from "../../faces/platform.ts";
import { isSwitch, type LogRecord } from "../../support/log.ts";
import { TestProcess } from "../../support/process.ts";
import { readStatus } from "../../support/read-status.ts";

const BOT = fileURLToPath(new URL("../answering-bot.ts", import.meta.url));

/** All platforms in these tests share this secret and this API key, so that one bot can work with several platforms. */
export const SECRET = "whsec_behind_a_real_proxy";
export const API_KEY = "sbk_behind_a_real_proxy";

type EntryOf<K extends TimelineEntry["kind"]> = Extract<TimelineEntry, { kind: K }>;

export class PlatformProcess {
  readonly url: string;
  readonly control: RemoteControl;

  private constructor(url: string, controlToken: string) {
    this.url = url;
    this.control = controlClient(url, { controlToken });
  }

  /**
   * @param trusted certificate file of an additional authority that the platform's https client trusts
   * @param more flags for `service-bot platform`. A later flag overrides an earlier one.
   */
  static async start(
    folder: string,
    trusted?: string,
    more: readonly string[] = [],
  ): Promise<PlatformProcess> {
    const flags = ["--port", "0", "--json", "--retry-interval", "200", "--disable-after", "10000"];
    const running = new TestProcess([CLI, "platform", ...flags, ...more], {
      bareEnv: true,
      cwd: folder,
      env: {
        SERVICE_API_KEY: API_KEY,
        SERVICE_WEBHOOK_SECRET: SECRET,
        ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }),
      },
    });
    const { url, controlToken } = JSON.parse(await running.line((line) => line.startsWith("{")));
    return new PlatformProcess(url, controlToken);
  }

  /** Resolves to the ids of the event and the conversation. */
  async message(text: string): Promise<{ event: string; conversation: string }> {
    const { events, conversationId } = await this.control.act({
      type: "dm.message",
      from: "ada",
      text,
    });
    return { event: events[0]?.id ?? "", conversation: conversationId ?? "" };
  }

  /** Lets new users write to the bot until the conversation with this id exists. */
  async conversation(id: string): Promise<void> {
    for (let n = 1; n < 100; n++) {
      const from = `person_${n}`;
      const made = await this.control.act({ type: "dm.message", from, text: "hello" });
      if (made.conversationId === id) return;
    }
    throw new Error(`there is no conversation ${id}`);
  }

  /** Resolves to the first matching entry in the timeline. Waits for one if necessary. */
  async entry<K extends TimelineEntry["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean,
  ): Promise<EntryOf<K>> {
    const isIt = (entry: TimelineEntry): entry is EntryOf<K> =>
      entry.kind === kind && fits(entry as EntryOf<K>);
    for (let after = 0; ; ) {
      const { entries, last } = await this.control.timeline(after, 30_000);
      const found = entries.find(isIt);
      if (found !== undefined) return found;
      after = last;
    }
  }

  /** Resolves to the first attempt to deliver this event, optionally with this status. `null` means no response. */
  delivery(event: string, status?: number | null): Promise<EntryOf<"delivery">> {
    return this.entry(
      "delivery",
      (entry) =>
        entry.eventIds.includes(event) && (status === undefined || entry.status === status),
    );
  }

  async answer(text: string): Promise<void> {
    await this.entry("api", (entry) => entry.text === text && entry.status === 201);
  }

  async answers(conversation: string): Promise<string[]> {
    const said = await this.control.messages(conversation);
    return said.filter(({ fromBot }) => fromBot).map(({ text }) => text);
  }
}

export function answersTo(text: string): [string, string] {
  return [`first answer to ${text}`, `second answer to ${text}`];
}

export class BotProcess {
  readonly url: string;
  readonly #running: TestProcess;

  private constructor(url: string, running: TestProcess) {
    this.url = url;
    this.#running = running;
  }

  static async start(
    folder: string,
    platform: PlatformProcess,
    env: Record<string, string> = {},
  ): Promise<BotProcess> {
    const running = new TestProcess([BOT], {
      bareEnv: true,
      cwd: folder,
      env: {
        SERVICE_BASE_URL: platform.url,
        SERVICE_API_KEY: API_KEY,
        SERVICE_WEBHOOK_SECRET: SECRET,
        DATABASE_URL: `file:${join(folder, "bot.db")}`,
        PORT: "0",
        ...env,
      },
    });
    const { url } = await running.message("ready");
    return new BotProcess(String(url), running);
  }

  switched(mode: "polling" | "auditing"): Promise<LogRecord> {
    return this.#running.logLine((line) => isSwitch(line) && line["mode"] === mode);
  }

  get switches(): readonly unknown[] {
    return this.#running.logLines.filter(isSwitch).map((line) => line["mode"]);
  }

  async status(): Promise<Record<string, unknown>> {
    return { ...(await readStatus(this.url, API_KEY)) };
  }
}
