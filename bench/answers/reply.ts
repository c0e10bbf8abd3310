import type { Benchmark, Figure, Stage } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { BarePlatform } from "../processes/platform.ts";
import { cpuFigures } from "../support/cpu.ts";
import { Ingest, type Taker } from "../support/ingest.ts";

const unit = "answers/s";

/** The load also keeps this many deliveries in flight, so both figures have the same concurrency. */
const AT_ONCE = 64;

const first: Figure = { name: "Express, HMAC, fetch; 200 before fetch", sample: "first", unit };
const after: Figure = {
  name: "Express, HMAC, fetch; 200 after fetch",
  sample: "after",
  unit,
};
const ours: Figure = {
  ...{
    name: "the whole bot, a reply to each event",
    sample: "ours",
    unit,
    against: ["first", "after"],
  },
  target: { number: 2, bound: 0.8, is: "at least" },
};

/** The bot replies to each delivery with a message. The peer is a bot that stores neither events nor steps. */
export const benchmark: Benchmark = {
  title: "5,000 deliveries of one event, each with a reply, 64 connections (--quick: 1,000)",
  warmUpRounds: 3,
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

async function answered(platform: Child<BarePlatform>, taker: Taker, count: number): Promise<void> {
  const wait = platform.call("received", count);
  await taker.finish(count);
  const messages = await wait;
  if (messages !== count) throw new Error(`${messages} replies to ${count} messages`);
}
