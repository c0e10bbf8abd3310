import { Child } from "../harness/child.ts";
import type { BareProcess } from "../processes/bare.ts";
import type { BotProcess } from "../processes/bot.ts";
import type { OpenLoadProcess } from "../processes/open-load.ts";
import { requireOneClock } from "./clock.ts";

const SECRET = "whsec_bench_0123456789abcdef";

const CONNECTIONS = 64;

/** Who is sent deliveries; `logging` is the bot with its default level, into a pipe that somebody reads. */
export type Name = "bare" | "bot" | "logging";

/** Times in milliseconds. */
interface Latencies {
  /** From the time that a delivery was due until its answer had been read. */
  readonly acknowledged: readonly number[];
  /** From the last byte of the request to the first line of the handler; empty where there is none. */
  readonly begun: readonly number[];
  /** How long after its time a delivery was sent. */
  readonly late: readonly number[];
  /** From the first that was due to the last answer. */
  readonly ms: number;
}

/** A load, and those whom it is sent to, each in a process of its own. */
export class LatencyLab {
  readonly #load = new Child<OpenLoadProcess>("processes/open-load.ts");
  readonly #bare = new Child<BareProcess>("processes/bare.ts");
  readonly #bots = {
    bot: new Child<BotProcess>("processes/bot.ts"),
    logging: new Child<BotProcess>("processes/bot.ts", [], "pipe"),
  };
  readonly #urls = new Map<Name, string>();
  #sent = 0;

  /** @throws {Error} times of two processes cannot be compared here */
  static async open(): Promise<LatencyLab> {
    const lab = new LatencyLab();
    try {
      await lab.#start();
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  /** Sends so many deliveries, each of one event that is new, and waits until all are handled. */
  async run(name: Name, count: number, rate?: number): Promise<Latencies> {
    const whole = Math.round(count);
    const url = this.#urls.get(name) ?? "";
    const first = this.#sent + 1;
    this.#sent += whole;
    const result = await this.#load.call("run", {
      url,
      secret: SECRET,
      first,
      count: whole,
      connections: CONNECTIONS,
      ...(rate === undefined ? {} : { rate }),
    });
    if (name === "bare") return { ...result, begun: [] };
    const handled = await this.#bots[name].call("handled", whole);
    const begun = handled.map(([event, at]) => at - (result.sent[event - first] ?? Number.NaN));
    return { ...result, begun };
  }

  async close(): Promise<void> {
    const all = [this.#bare, this.#bots.bot, this.#bots.logging];
    await Promise.all(all.map((process) => process.call("stop")));
    await Promise.all([this.#load, ...all].map((process) => process.stop()));
  }

  async #start(): Promise<void> {
    const { bot, logging } = this.#bots;
    const secret = SECRET;
    this.#urls.set("bare", await this.#bare.call("start", { secret }));
    this.#urls.set("bot", await bot.call("start", { secret, logLevel: "warn" }));
    this.#urls.set("logging", await logging.call("start", { secret }));
    await requireOneClock([this.#load, this.#bare, bot, logging]);
  }
}
