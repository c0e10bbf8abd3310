import type { Benchmark, Figure, Samples, Stage, Subject } from "../harness/benchmark.ts";
import { type Latencies, LatencyLab, type Receiving } from "../support/latency.ts";
import { percentile } from "../support/percentile.ts";
import { perSecond } from "../support/rate.ts";

/** Load in deliveries per second, with one event each. */
const RATE = 1_000;

/** Duration of each load, in seconds. The rate with a target runs for longer. */
const QUICK_SECONDS = { "1k": 0.25, half: 0.5 };

const WORDS: Readonly<Record<Receiving, string>> = {
  bare: "bare node:http with HMAC",
  "by hand": "the whole inbox by hand",
  bot: "the bot",
};

/**
 * Measures the time until a delivery is acknowledged, and until its handler starts. One peer verifies the signature and
 * stores nothing. The inbox by hand syncs each event before it responds, as the bot does. Deliveries follow a fixed
 * schedule, so slow responses do not delay the next delivery. Acknowledgement time starts when the delivery is due.
 * Handler time starts when the last byte of the request is written to the socket.
 */
export const benchmark: Benchmark = {
  title:
    "deliveries of one event, 300 bytes, 1,000 a second for 3 s, and at half of the bot's highest rate (--quick: 0.25 s, and 0.5 s)",
  async prepare({ quick }): Promise<Stage> {
    const lab = await LatencyLab.open();
    const half = (await highestRate(lab, quick ? 2_000 : 10_000)) / 2;
    const at = (rate: number, key: "1k" | "half", name: Receiving): Subject => {
      const seconds = quick ? QUICK_SECONDS[key] : 3;
      return async () =>
        samples(`${name} ${key}`, await lab.run(name, Math.round(rate * seconds), rate));
    };
    return {
      subjects: [
        at(RATE, "1k", "bare"),
        at(RATE, "1k", "bot"),
        at(half, "half", "bare"),
        at(half, "half", "by hand"),
        at(half, "half", "bot"),
        async () => ({ half }),
      ],
      figures: [...figuresAtRate(), ...figuresAtHalf()],
      close: () => lab.close(),
    };
  },
};

/** Returns how many deliveries per second the bot acknowledges on 64 connections if all are due at once. */
async function highestRate(lab: LatencyLab, count: number): Promise<number> {
  // Warm up the JIT compiler.
  for (const name of ["bare", "by hand", "bot"] as const) await lab.run(name, count);
  const { ms } = await lab.run("bot", count);
  return perSecond(count, ms);
}

function samples(prefix: string, { acknowledged, late, begun }: Latencies): Samples {
  const of = (words: string, values: readonly number[]) => ({
    [`${prefix} ${words} p50`]: percentile(values, 0.5),
    [`${prefix} ${words} p99`]: percentile(values, 0.99),
  });
  const handler = begun.length === 0 ? {} : of("handler", begun);
  return { ...of("late", late), ...of("ack", acknowledged), ...handler };
}

function figuresAtRate(): Figure[] {
  return [
    { name: "how late the load sends, p99", sample: "bare 1k late p99", unit: "ms" },
    ...percentiles(`${WORDS.bare}, acknowledgement`, "bare 1k ack"),
    ...percentiles(`${WORDS.bot}, acknowledgement`, "bot 1k ack", "bare 1k ack"),
    ...percentiles(`${WORDS.bot}, first line of the handler`, "bot 1k handler", "bot 1k ack"),
  ];
}

function figuresAtHalf(): Figure[] {
  const [p50, p99] = percentiles(
    "the whole bot at half load, acknowledgement",
    "bot half ack",
    "bare half ack",
  );
  return [
    { name: "half of the bot's highest rate", sample: "half", unit: "deliveries/s" },
    ...percentiles(`${WORDS.bare} at half load, acknowledgement`, "bare half ack"),
    ...percentiles(
      `${WORDS["by hand"]} at half load, acknowledgement`,
      "by hand half ack",
      "bare half ack",
    ),
    p50,
    { ...p99, target: { number: 5, bound: 2, is: "at most" } },
    ...percentiles("the bot at half load, first line of the handler", "bot half handler"),
  ];
}

function percentiles(name: string, sample: string, against?: string): [Figure, Figure] {
  const figure = (which: "p50" | "p99"): Figure => ({
    name: `${name}, ${which}`,
    sample: `${sample} ${which}`,
    unit: "ms",
    ...(against === undefined ? {} : { against: `${against} ${which}` }),
  });
  return [figure("p50"), figure("p99")];
}
