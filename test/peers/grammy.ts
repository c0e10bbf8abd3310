import type { TestProcess } from "../support/process.ts";
import { BotFolder, linked, type StartOptions } from "./bot-folder.ts";
import type { Changes } from "./changes.ts";
import { botOf } from "./documented.ts";
import { Gate } from "./gate.ts";
import type { Author, Moment } from "./peer.ts";
import { Telegram } from "./telegram.ts";

/** The bot from the page, with the test's platform in place of the real one. */
const CODE = botOf("grammY").replace(
  "new Bot<MyContext>(BOT_TOKEN)",
  'new Bot<MyContext>(BOT_TOKEN, { client: { apiRoot: process.env["API_ROOT"] ?? "" } })',
);

export class GrammyAuthor implements Author {
  readonly #telegram: Telegram;
  readonly #gate: Gate;
  readonly #folder: BotFolder;

  private constructor(telegram: Telegram, gate: Gate, folder: BotFolder) {
    this.#telegram = telegram;
    this.#gate = gate;
    this.#folder = folder;
  }

  static async create(modules: string): Promise<GrammyAuthor> {
    const telegram = new Telegram();
    const gate = await Gate.to(await telegram.listen());
    return new GrammyAuthor(telegram, gate, new BotFolder(CODE, linked(modules)));
  }

  get changes(): Changes {
    return this.#telegram.changes;
  }

  get seen(): readonly string[] {
    return this.#telegram.seen;
  }

  get posts(): readonly string[] {
    return this.#telegram.posts;
  }

  async start(options?: StartOptions): Promise<TestProcess> {
    const polls = this.#telegram.polls;
    const env = { BOT_TOKEN: "1:token", CHANNEL: "@news", API_ROOT: this.#gate.url };
    const bot = this.#folder.run(env, options);
    await this.changes.until(() => this.#telegram.polls > polls);
    return bot;
  }

  async reaches(moment: Moment): Promise<void> {
    // The next getUpdates call confirms the update.
    if (moment === "done") await this.#gate.hold("before", (path) => path.endsWith("/getUpdates"));
    else await this.posting(moment);
  }

  posting(moment: "replied" | "replying"): Promise<void> {
    const side = moment === "replied" ? "after" : "before";
    return this.#gate.hold(side, (path) => path.endsWith("/sendMessage"));
  }

  async say(text: string): Promise<void> {
    this.#telegram.say(text);
  }

  /** Does nothing, because Telegram sends updates again at the next getUpdates call. */
  async redeliver(): Promise<void> {}

  settled(): Promise<void> {
    return this.#telegram.settled();
  }
}
