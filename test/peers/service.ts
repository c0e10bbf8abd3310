import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Platform, startPlatform } from "../faces/platform.ts";
import { checkout, linkPackage } from "../support/linked-package.ts";
import { NEWEST } from "../support/postgres/binaries.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import type { TestProcess } from "../support/process.ts";
import { BotFolder, type StartOptions } from "./bot-folder.ts";
import { Changes } from "./changes.ts";
import { botOf } from "./documented.ts";
import { Gate } from "./gate.ts";
import type { Author, Moment } from "./peer.ts";

/** The bot from the page on the local platform. Several instances share an inbox in PostgreSQL. */
export class ServiceAuthor implements Author {
  readonly changes: Changes = new Changes();
  readonly #platform: Platform;
  readonly #gate: Gate;
  readonly #databaseUrl: string;
  readonly #folder: BotFolder = new BotFolder(botOf("service-bot"), (folder) => {
    linkPackage(folder, { ".": "./src/index.ts" });
    symlinkSync(join(checkout, "node_modules", "zod"), join(folder, "node_modules", "zod"));
  });
  readonly #said: string[] = [];
  readonly #done = new Set<string>();

  /** A new platform already has a few posts. */
  readonly #postsAtFirst: number;

  private constructor(platform: Platform, gate: Gate, databaseUrl: string) {
    this.#platform = platform;
    this.#gate = gate;
    this.#databaseUrl = databaseUrl;
    this.#postsAtFirst = platform.control.posts().items.length;
    platform.onTimeline((entry) => {
      if (entry.kind === "run" && entry.outcome === "done") this.#done.add(entry.eventId);
      this.changes.publish();
    });
  }

  static async create(instances = 1): Promise<ServiceAuthor> {
    const platform = await startPlatform();
    onTestFinished(() => platform.stop());
    const database = instances > 1 ? await PostgresServer.start(NEWEST) : undefined;
    onTestFinished(() => database?.stop());
    return new ServiceAuthor(
      platform,
      await Gate.to(platform.url),
      database?.url() ?? "file:data/bot.db",
    );
  }

  get seen(): readonly string[] {
    const { control } = this.#platform;
    const [conversation] = control.conversations({ of: "ada" }).items;
    if (conversation === undefined) return [];
    const messages = control.messages(conversation.id);
    return messages.filter(({ fromBot }) => fromBot).map(({ text }) => text);
  }

  get posts(): readonly string[] {
    const { items } = this.#platform.control.posts();
    return items.slice(0, items.length - this.#postsAtFirst).map(({ text }) => text);
  }

  async start(options?: StartOptions): Promise<TestProcess> {
    const { control, apiKey, webhookSecret } = this.#platform;
    const env = {
      SERVICE_BASE_URL: this.#gate.url,
      SERVICE_API_KEY: apiKey,
      SERVICE_WEBHOOK_SECRET: webhookSecret,
      DATABASE_URL: this.#databaseUrl,
      PORT: "0",
      NODE_ENV: "production",
    };
    const bot = this.#folder.run(env, options);
    const { url } = await bot.message("ready");
    control.saveWebhook({ url: `${url}/webhook` });
    return bot;
  }

  async reaches(moment: Moment): Promise<void> {
    if (moment !== "done") return await this.#holds(moment, "/messages");
    const { size } = this.#done;
    await this.changes.until(() => this.#done.size > size);
  }

  posting(moment: "replied" | "replying"): Promise<void> {
    return this.#holds(moment, "/posts");
  }

  async say(text: string): Promise<void> {
    const { events } = this.#platform.control.act({ type: "dm.message", from: "ada", text });
    this.#said.push(...events.map(({ id }) => id));
  }

  /** The inbox has acknowledged the events, so only a lost acknowledgement leads to another delivery. */
  async redeliver(moment: Moment): Promise<void> {
    if (moment === "done") await this.#platform.control.deliver({ eventIds: this.#said });
  }

  settled(): Promise<void> {
    return this.changes.until(() => this.#said.every((id) => this.#done.has(id)));
  }

  #holds(moment: "replied" | "replying", end: string): Promise<void> {
    const side = moment === "replied" ? "after" : "before";
    return this.#gate.hold(side, (path, body) => path.endsWith(end) && body !== "");
  }
}
