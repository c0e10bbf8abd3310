import { Child } from "../harness/child.ts";
import type { BotProcess } from "../processes/bot.ts";
import type { OpenLoadProcess, OpenLoadResult } from "../processes/open-load.ts";
import { requireOneClock } from "./clock.ts";

const CONNECTIONS = 64;

export type Receiving = "bare" | "by hand" | "bot";

/** Latencies in ms. */
export interface Latencies extends OpenLoadResult {
  /** Time from the last byte of the request to the first line of the handler. Empty for a server without handlers. */
  readonly begun: readonly number[];
}

export class LatencyLab {
  readonly #load = new Child<OpenLoadProcess>("processes/open-load.ts", { side: "load" });
  readonly #bare = peer("bare-hmac");
  readonly #byHand = peer("inbox-by-hand");
  readonly #bot = new Child<BotProcess>("processes/bot.ts", {
    side: "measured",
    output: "ignore",
  });
  readonly #urls: Promise<Readonly<Record<Receiving, string>>>;
  #next = 1;

  private constructor() {
    this.#urls = this.#start();
  }

  /** @throws {Error} if times from two processes cannot be compared on this machine */
  static async open(): Promise<LatencyLab> {
    const lab = new LatencyLab();
    await lab.#urls;
    await requireOneClock([lab.#load, lab.#bot]);
    return lab;
  }

  /**
   * Sends `count` deliveries of one new event each, and waits until all events are handled.
   *
   * @param rate deliveries per second. If absent, all are due at once.
   */
  async run(to: Receiving, count: number, rate?: number): Promise<Latencies> {
    const from = this.#next;
    this.#next += count;
    const url = (await this.#urls)[to];
    const load = { url, from, count, connections: CONNECTIONS };
    const result = await this.#load.call("run", rate === undefined ? load : { ...load, rate });
    if (to !== "bot") return { ...result, begun: [] };
    const handled = await this.#bot.call("handled", count);
    const begun = handled.map(([number, at]) => at - (result.sent[number - from] ?? Number.NaN));
    return { ...result, begun };
  }

  async close(): Promise<void> {
    await this.#bot.call("stop");
    const processes = [this.#load, this.#bare, this.#byHand, this.#bot];
    await Promise.all(processes.map((process) => process.stop()));
  }

  async #start(): Promise<Readonly<Record<Receiving, string>>> {
    const [bare, byHand, bot] = await Promise.all([
      this.#bare.call("listen"),
      this.#byHand.call("listen"),
      this.#bot.call("start", { handler: "notes" }),
    ]);
    return { bare, "by hand": byHand, bot };
  }
}

function peer(name: string): Child<{ listen(): Promise<string> }> {
  return new Child(`peers/ingest/${name}.mjs`, { side: "measured" });
}
