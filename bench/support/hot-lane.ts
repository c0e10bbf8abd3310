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

export interface Amounts {
  /** Claimed in each round. */
  readonly lanes: number;
  /** Events that wait in the hot lane; default 100,000. */
  readonly hot?: number;
  readonly target?: Target;
}

/** So many lanes claimed beside one with many events, and the same without it. */
export async function besideHotLane(
  inboxes: Inboxes,
  { lanes, hot = HOT, target }: Amounts,
): Promise<Stage> {
  const subject = async (name: string, waiting: number) => {
    const process = await inboxes.ours(`bench_${name}`);
    await process.call("fill", makeEvents(waiting, 1));
    return async (): Promise<Samples> => {
      await process.call("fill", makeEvents(lanes, lanes));
      await inboxes.settle?.();
      const { ms } = await process.call("claim", lanes, LIMIT);
      return { [name]: perSecond(lanes, ms) };
    };
  };
  const unit = "claims/s";
  return {
    subjects: await Promise.all([subject("plain", 0), subject("hot", hot)]),
    figures: [
      { name: "without the hot lane", sample: "plain", unit },
      {
        ...{ name: "beside the hot lane", sample: "hot", unit, against: "plain" },
        ...(target && { target }),
      },
    ],
    close: () => inboxes.close(),
  };
}
