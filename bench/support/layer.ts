import type { Figure, Samples, Subject } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import type { LayerBotProcess, Use } from "../processes/layer-bot.ts";
import { makeEvents, type QueueOptions } from "./queue.ts";
import { perSecond } from "./rate.ts";

const CONVERSATIONS = 4_000;

/** The uses, in table order. Every use is compared with the first. */
const uses: readonly (readonly [use: Use, name: string])[] = [
  ["none", "a bot without state or timers"],
  ["unused", "a bot with both, unused by the handler"],
  ["state", "the handler changes ctx.state()"],
  ["by hand", "the handler changes its own table"],
  ["timer", "the handler sets a timer"],
];

export interface LayerSubjects {
  readonly process: Child<LayerBotProcess>;
  readonly database: (use: Use) => QueueOptions;
  readonly count: number;
  readonly concurrency: number;
  readonly settle?: () => Promise<void>;
}

export function layerSubjects({
  process,
  database,
  count,
  concurrency,
  settle,
}: LayerSubjects): Subject[] {
  return uses.map(([use]) => async (): Promise<Samples> => {
    await settle?.();
    // With one transaction per event, the full number of events would take longer than all other uses together.
    const size = use === "by hand" ? count / 5 : count;
    const events = makeEvents(size, CONVERSATIONS);
    const { ms, cpuMs, statements } = await process.call(
      "run",
      use,
      database(use),
      events,
      concurrency,
    );
    const sample = `${use} ${concurrency}`;
    return {
      [sample]: perSecond(size, ms),
      [`${sample} cpu`]: (cpuMs * 1000) / size,
      [`${sample} statements`]: statements / size,
    };
  });
}

/** @param statements name of the statement count in the table */
export function layerFigures(concurrency: number, statements: string): Figure[] {
  const measures = [
    { of: "", what: "", unit: "events/s" },
    { of: " cpu", what: ": CPU time", unit: "µs per event" },
    { of: " statements", what: `: ${statements}`, unit: "per event" },
  ];
  return measures.flatMap(({ of, what, unit }) =>
    uses.map(([use, name]): Figure => {
      const figure = {
        ...{ name: `${name}, ${concurrency} lanes at once${what}`, unit },
        sample: `${use} ${concurrency}${of}`,
      };
      return use === "none" ? figure : { ...figure, against: `none ${concurrency}${of}` };
    }),
  );
}
