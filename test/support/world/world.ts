import { join } from "node:path";
import type { BotOptions } from "../../../src/index.ts";
import { TestPlatform } from "../../faces/testing.ts";
import { copyAsKilled } from "../killed-copy.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { emptyInbox } from "./empty-inbox.ts";
import { InProcess } from "./in-process.ts";
import { type Store, sqlite } from "./stores.ts";

export interface WrittenEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly payload: { readonly conversationId: string; readonly excerpt: string };
}

export interface WorldOptions {
  /** Inbox of the bots. Default: a file */
  readonly store?: Store;
  /** Options of every bot, which `startBot` may override. Default: only the webhook */
  readonly bots?: BotOptions;
}

/** The local platform, a manual clock and bots on real SQLite files, all in one process. */
export class World extends InProcess {
  readonly platform: TestPlatform = new TestPlatform({ clock: this.clock });
  override readonly fetch: NonNullable<BotOptions["fetch"]> = this.platform.fetch;
  #events = 0;

  constructor({ store = sqlite(emptyInbox()), bots }: WorldOptions = {}) {
    super({ store, bots: { delivery: "webhook", ...bots } });
  }

  /** Writes a user's message to the platform. Its event is not delivered yet. */
  write(conversationId: string, text: string): WrittenEvent {
    this.#events += 1;
    const event = {
      id: `evt_${String(this.#events).padStart(4, "0")}`,
      type: "dm.message",
      createdAt: new Date(this.clock.now()).toISOString(),
      payload: {
        conversationId,
        messageId: `m_${this.#events}`,
        from: { username: conversationId, name: conversationId },
        excerpt: text,
      },
    };
    this.platform.happen(event);
    return event;
  }

  sentTo(conversationId: string): string[] {
    return this.platform.sent
      .filter((sent) => sent.kind === "dm" && sent.conversationId === conversationId)
      .map(({ text }) => text);
  }

  /** Path of the inbox. Only for stores in a file. */
  get file(): string {
    return this.store.databaseUrl.replace(/^file:/, "");
  }

  set file(path: string) {
    this.store = sqlite(path);
  }

  /** Copies the inbox as it is on disk, just as SIGKILL would leave it. */
  copyInbox(): string {
    return copyAsKilled(this.file, join(temporaryFolder(), "bot.db"));
  }
}
