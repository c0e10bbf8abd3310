import type { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { BotFolder, linked, type StartOptions } from "./bot-folder.ts";
import type { Changes } from "./changes.ts";
import { botOf } from "./documented.ts";
import { Gate } from "./gate.ts";
import type { Author, Moment } from "./peer.ts";
import { SIGNING_SECRET, Slack } from "./slack.ts";

/** The bot from the page, with the test's platform in place of the real one. */
const CODE = botOf("Bolt")
  .replace(
    "signingSecret: SLACK_SIGNING_SECRET",
    '$&, clientOptions: { slackApiUrl: process.env["API_ROOT"] ?? "" }',
  )
  .replace("/remindme", "/remind");

export class BoltAuthor implements Author {
  readonly #slack: Slack;
  readonly #gate: Gate;
  readonly #folder: BotFolder;

  private constructor(slack: Slack, gate: Gate, folder: BotFolder) {
    this.#slack = slack;
    this.#gate = gate;
    this.#folder = folder;
  }

  static async create(modules: string): Promise<BoltAuthor> {
    const slack = new Slack();
    const gate = await Gate.to(await slack.listen());
    return new BoltAuthor(slack, gate, new BotFolder(CODE, linked(modules)));
  }

  get changes(): Changes {
    return this.#slack.changes;
  }

  get seen(): readonly string[] {
    return this.#slack.seen;
  }

  get posts(): readonly string[] {
    return this.#slack.posts;
  }

  async start(options?: StartOptions): Promise<TestProcess> {
    this.#slack.forget();
    const port = await reservePort();
    const env = {
      SLACK_BOT_TOKEN: "xoxb-token",
      SLACK_SIGNING_SECRET: SIGNING_SECRET,
      CHANNEL: "C0001",
      PORT: String(port),
      API_ROOT: `${this.#gate.url}/api/`,
    };
    const bot = this.#folder.run(env, options);
    await bot.line((line) => line.includes("The bot runs."));
    this.#slack.requestUrl = `http://127.0.0.1:${port}/slack/events`;
    return bot;
  }

  async reaches(moment: Moment): Promise<void> {
    const { length } = this.seen;
    if (moment === "done") await this.changes.until(() => this.seen.length > length);
    else await this.posting(moment);
  }

  posting(moment: "replied" | "replying"): Promise<void> {
    const side = moment === "replied" ? "after" : "before";
    return this.#gate.hold(side, (path) => path.endsWith("/chat.postMessage"));
  }

  say(text: string): Promise<void> {
    return this.#slack.say(text);
  }

  /** Bolt acknowledges an event before it runs a handler, so only a lost acknowledgement leads to another delivery. */
  async redeliver(moment: Moment): Promise<void> {
    if (moment === "done") await this.#slack.redeliver();
  }

  settled(): Promise<void> {
    return this.#slack.settled();
  }
}
