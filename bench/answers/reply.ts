import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { BarePlatform } from "../processes/platform.ts";
import { cpuFigures } from "../support/cpu.ts";
import { Ingest, type Taker } from "../support/ingest.ts";

const unit = "answers/s";

/** Replies in flight in the second figure. Equals the number of deliveries that the load keeps in flight. */
const AT_ONCE = 64;

const first: Figure = { name: "Express, HMAC, fetch; 200 before it", sample: "first", unit };
const after: Figure = { name: "Express, HMAC, fetch; 200 after it", sample: "after", unit };
const ours: Figure = {
  ...{
    name: "the whole bot, an answer to each event",
    sample: "ours",
    unit,
    against: ["first", "after"],
  },
  target: { number: 2, bound: 0.8, is: "at least" },
};

/** The bot answers each delivery with a message. The peer is a bot that stores neither events nor steps. */
export const benchmark: Benchmark = {
  title:
    "5,000 deliveries of one event, each answered by a message, 64 connections (--quick: 1,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 1_000 : 5_000;
    const platform = new Child<BarePlatform>("processes/platform.ts", { side: "load" });
    const url = await platform.call("listen");
    const ingest = new Ingest();
    const naive = (ANSWER: string) =>
      ingest.peer("answers/naive", "service", { PLATFORM: url, ANSWER });
    const bot = (env = {}) =>
      ingest.bot({ handler: "replies", env: { SERVICE_BASE_URL: url, ...env } });
    const subject = (name: string, taker: Taker) =>
      ingest.subject(name, { ...taker, finish: () => answered(platform, taker, count) }, count);
    return {
      subjects: [
        subject("first", await naive("first")),
        subject("after", await naive("after")),
        subject("ours", await bot()),
        subject("many", await bot({ CONCURRENCY: String(AT_ONCE) })),
      ],
      figures: [
        first,
        after,
        ours,
        {
          ...{ name: `the same, CONCURRENCY=${AT_ONCE}`, sample: "many", unit },
          against: ["first", "after"],
        },
        ...cpuFigures(ours, after),
      ],
      close: async () => {
        await ingest.close();
        await platform.stop();
      },
    };
  },
};

/** Resolves once the platform has received every reply and the bot is idle. */
async function answered(platform: Child<BarePlatform>, taker: Taker, count: number): Promise<void> {
  const wait = platform.call("received", count);
  await taker.finish(count);
  const messages = await wait;
  if (messages !== count) throw new Error(`${messages} answers to ${count} messages`);
}
