import { onTestFinished } from "vitest";
import { type Block, LoopWatch, WatchedRun } from "../faces/core.ts";

/** A watch on a clock that only the test advances. */
export interface ManualWatch {
  readonly watch: LoopWatch;
  /** Passes time in which the process runs, in ms. */
  readonly compute: (ms: number) => void;
  /** Passes time in which the process waits or is suspended, in ms. */
  readonly wait: (ms: number) => void;
  /** Passes half the time between two ticks, as if a block had begun in the middle. */
  readonly tick: () => void;
}

const HALF_TICK_MS = 100;

export function manualWatch(): ManualWatch {
  let now = 0;
  let cpu = 0;
  const later: (() => void)[] = [];
  const watch = new LoopWatch({
    now: () => now,
    cpu: () => cpu,
    later: (work) => void later.push(work),
  });
  return {
    watch,
    compute(ms) {
      now += ms;
      cpu += ms;
    },
    wait(ms) {
      now += ms;
    },
    tick() {
      now += HALF_TICK_MS;
      watch.tick();
      for (const work of later.splice(0)) work();
    },
  };
}

/** A manual watch with its reports until the test ends. */
export interface Watching extends ManualWatch {
  readonly run: (id: string) => WatchedRun;
  /** Reported blocks, each suspect with the id of its run. */
  readonly reported: () => readonly {
    readonly ms: number;
    readonly isCertain: boolean;
    readonly suspects: readonly string[];
  }[];
}

export function watching(): Watching {
  const { watch, ...time } = manualWatch();
  const blocks: Block[] = [];
  onTestFinished(watch.subscribe((block) => void blocks.push(block)));
  const run = (id: string): WatchedRun => {
    const claim = { id, type: "mention", lane: `lane ${id}`, attempt: 1 };
    return new WatchedRun(claim, undefined, undefined, watch);
  };
  const reported = () =>
    blocks.map(({ ms, isCertain, suspects }) => ({
      ms,
      isCertain,
      suspects: suspects.map(({ run: of, handler }) => `${of?.id} ${handler}`),
    }));
  return { watch, ...time, run, reported };
}
