import type { Benchmark, Figure, Samples, Stage, Subject } from "../harness/benchmark.ts";
import type { Costs } from "../harness/costs.ts";
import { defaultBot, Ingest, type Taker } from "../support/ingest.ts";

/** Costs of an event besides time, with their units and names. */
const measures: readonly (readonly [what: keyof Costs, unit: string, name: string])[] = [
  ["commits", "per event", "commits"],
  ["wal", "bytes per event", "bytes in the WAL"],
  ["writeCalls", "per event", "write calls"],
  ["allocated", "bytes per event", "allocated by JavaScript"],
];

function figuresOf(name: string, sample: string, peer?: string): Figure[] {
  return measures.map(([what, unit, text]) => ({
    ...{ name: `${name}: ${text}`, sample: `${sample} ${what}`, unit },
    ...(peer && { against: `${peer} ${what}` }),
  }));
}

/** Measures what an event costs besides time. These figures vary little from one machine to another. */
export const benchmark: Benchmark = {
  title: "commits, writes and allocations of 10,000 deliveries, 64 connections (--quick: 2,000)",
  async prepare({ quick }): Promise<Stage> {
    const count = quick ? 2_000 : 10_000;
    const ingest = new Ingest();
    const subject = (name: string, taker: Taker): Subject => {
      const send = ingest.subject(name, taker, count);
      return async (): Promise<Samples> => {
        const costs = await taker.process.costsOf(send);
        const samples = measures.map(([what]) => [`${name} ${what}`, costs[what] / count]);
        return Object.fromEntries(samples);
      };
    };
    return {
      subjects: [
        subject("by hand", await ingest.inboxByHand()),
        subject("bot", await ingest.bot({ ...defaultBot, countsCommits: true })),
      ],
      figures: [
        ...figuresOf("the whole inbox by hand", "by hand"),
        ...figuresOf("the whole bot", "bot", "by hand"),
      ],
      close: () => ingest.close(),
    };
  },
};
