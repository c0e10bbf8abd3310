import type { Samples, Stage, Target } from "../harness/benchmark.ts";
import type { Child } from "../harness/child.ts";
import { makeEvents, type QueueProcess } from "./queue.ts";
import { perSecond } from "./rate.ts";

export const LANES = 20_000;
const HOT = 100_000;

/** Lanes that are leased by one statement. */
export const LIMIT = 50;

/** Where there are inboxes. */
export interface Inboxes {
  ours(name: string): Promise<Child<QueueProcess>>;
  /** What the database would do by itself at some time or other, before something is timed. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

/** So many lanes claimed beside one with 100,000 events, and the same without it. */
export async function besideHotLane(
  inboxes: Inboxes,
  lanes: number,
  target?: Target,
): Promise<Stage> {
  const subject = async (name: string, hot: number) => {
    const process = await inboxes.ours(`bench_${name}`);
    await process.call("fill", makeEvents(hot, 1));
    return async (): Promise<Samples> => {
      await process.call("fill", makeEvents(lanes, lanes));
      await inboxes.settle?.();
      const { ms } = await process.call("claim", lanes, LIMIT);
      return { [name]: perSecond(lanes, ms) };
    };
  };
  const hot = { name: "beside the hot lane", sample: "hot", unit: "claims/s", against: "plain" };
  return {
    subjects: [await subject("plain", 0), await subject("hot", HOT)],
    figures: [
      { name: "without the hot lane", sample: "plain", unit: "claims/s" },
      { ...hot, ...(target && { target }) },
    ],
    close: () => inboxes.close(),
  };
}
