import { promiseHooks } from "node:v8";
import { type Linked, LinkedSet } from "./churn.ts";
import { cpuTimeMs } from "./cpu-time.ts";
import { type CurrentEvent, currentEvent } from "./trace.ts";

/** Shorter blocks are not reported, in ms. */
const MIN_BLOCK_MS = 1_000;

/** Interval between ticks, in ms. A block that was not timed begins at some time between two of them. */
const TICK_MS = 200;

/** Time for which every continuation is timed after a block of unknown cause, in ms. */
const CLOSE_WATCH_MS = 600_000;

/** A run, or another function of the bot's author, that may have blocked the event loop. */
export interface Suspect {
  /** `undefined` for a function that runs outside handlers, such as the `lane` option. */
  readonly run: WatchedRun | undefined;
  /** Name of the function, such as `on("mention")`. */
  readonly handler: string | undefined;
}

/** A time in which the event loop ran nothing else. */
export interface Block {
  readonly ms: number;
  /** One if `isCertain`. Otherwise any number, of which one or none caused the block. */
  readonly suspects: readonly Suspect[];
  readonly isCertain: boolean;
}

interface RunOf {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly attempt: number;
}

/** A run of an event's handlers. Connections that outlive the run keep it in memory, so it refers to nothing large. */
export class WatchedRun implements CurrentEvent, Linked<WatchedRun> {
  previous: WatchedRun | undefined;
  next: WatchedRun | undefined;
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly attempt: number;
  readonly trace: string | undefined;
  readonly bot: object | undefined;
  readonly watch: LoopWatch;
  /** The author's function that was entered last and has not ended. */
  handler: string | undefined;
  /** When this function got control. `undefined` if there is none, and while it waits for the bot. */
  busySince: number | undefined;
  /** Calls to the context that have not settled. */
  #calls = 0;

  constructor(
    { id, type, lane, attempt }: RunOf,
    trace: string | undefined,
    bot: object | undefined,
    watch: LoopWatch,
  ) {
    this.id = id;
    this.type = type;
    this.lane = lane;
    this.attempt = attempt;
    this.trace = trace;
    this.bot = bot;
    this.watch = watch;
  }

  /** Must be called before an author's function. Returns the function around it, for {@link leave}. */
  enter(name: string | undefined): string | undefined {
    const around = this.handler;
    if (around === undefined) this.watch.add(this);
    this.#lap();
    this.handler = name ?? around;
    return around;
  }

  leave(around: string | undefined): void {
    this.#lap();
    this.handler = around;
    if (around === undefined) this.watch.delete(this);
    if (around === undefined || this.#calls > 0) this.busySince = undefined;
  }

  /** Must be called when the author's code begins to wait for the bot. */
  pause(): void {
    this.#calls += 1;
    this.#lap();
    this.busySince = undefined;
  }

  resume(): void {
    this.#calls -= 1;
    if (this.#calls === 0 && this.handler !== undefined) this.busySince = this.watch.now();
  }

  /** Ends a time in which one function was busy, and begins the next one. */
  #lap(): void {
    this.busySince = this.watch.noteBusy(this);
  }
}

/** Calls an author's function, and reports it if it blocks the event loop. */
export async function authorCode<T>(name: string | undefined, work: () => T): Promise<Awaited<T>> {
  const run = currentRun();
  if (run === undefined) return await timed(name, work);
  const around = run.enter(name);
  try {
    return await run.watch.time(run, run.handler, work);
  } finally {
    run.leave(around);
  }
}

/** Calls an author's synchronous function, and reports it if it blocks the event loop. */
export function timed<T>(name: string | undefined, work: () => T): T {
  const run = currentRun();
  return (run?.watch ?? loopWatch).time(run, run?.handler ?? name, work);
}

/** Runs work of the bot for which the author's code waits. */
export async function duringWait<T>(work: () => Promise<T>): Promise<T> {
  const run = currentRun();
  run?.pause();
  try {
    return await work();
  } finally {
    run?.resume();
  }
}

/** Returns a callback for a promise that the author awaits. Times the code that the promise continues. */
export function continuing<V, T>(callback: (value: V) => T): (value: V) => T {
  const run = currentRun();
  return run === undefined ? callback : run.watch.continuing(run, callback);
}

function currentRun(): WatchedRun | undefined {
  const event = currentEvent();
  return event instanceof WatchedRun ? event : undefined;
}

export interface LoopClock {
  /** In ms, monotonic. */
  readonly now: () => number;
  /** CPU time of the thread, in ms. */
  readonly cpu: () => number;
  /** Calls `work` in a later turn of the event loop, after pending signals. */
  readonly later: (work: () => void) => void;
}

const systemLoopClock: LoopClock = {
  now: () => performance.now(),
  cpu: cpuTimeMs,
  later: (work) => void setTimeout(work, TICK_MS).unref(),
};

/**
 * Reports blocks of the event loop, and finds the code that caused them. Times the author's code wherever the bot calls
 * or continues it. For other blocks, such as after a timer of the author's own, it reports all runs whose code may have
 * been running. It then times all continuations for some minutes, so that the next such block has a certain cause. This
 * is expensive, because it slows down every promise.
 */
export class LoopWatch {
  readonly #clock: LoopClock;
  readonly #listeners = new Set<(block: Block) => void>();
  readonly #runs = new LinkedSet<WatchedRun>();
  /** Runs whose code was busy for long, and ended or began to wait since the last tick. */
  #suspects: Suspect[] = [];
  #tickedAt = 0;
  #cpuAtTick = 0;
  /** Duration of the timed blocks since the last tick. */
  #timedMs = 0;
  /** Time in functions that took less than a block since the last tick, and the longest of them. */
  #shortMs = 0;
  #longestMs = 0;
  #longest: Suspect | undefined;
  #continuedAt = Number.NEGATIVE_INFINITY;
  #closeUntil = Number.NEGATIVE_INFINITY;
  #endCloseWatch: (() => void) | undefined;
  #stop: (() => void) | undefined;

  constructor(clock: LoopClock = systemLoopClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Watches until the returned function is called. */
  subscribe(listener: (block: Block) => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #start(): () => void {
    this.#restart();
    const timer = setInterval(() => this.tick(), TICK_MS).unref();
    // A stopped process gets this signal when it continues.
    const onContinue = () => this.noteContinued();
    process.on("SIGCONT", onContinue);
    return () => {
      clearInterval(timer);
      process.off("SIGCONT", onContinue);
      this.#endCloseWatch?.();
    };
  }

  add(run: WatchedRun): void {
    this.#runs.add(run);
  }

  delete(run: WatchedRun): void {
    this.#runs.delete(run);
  }

  /** Remembers a run that was busy for long enough to block. Returns the time. */
  noteBusy(run: WatchedRun): number {
    const now = this.now();
    if (isSuspect(run, now)) this.#suspects.push(suspect(run));
    return now;
  }

  time<T>(run: WatchedRun | undefined, handler: string | undefined, work: () => T): T {
    const began = this.now();
    const timedMs = this.#timedMs;
    try {
      return work();
    } finally {
      this.#timed({ run, handler }, began, timedMs);
    }
  }

  /** The continuation is the microtask after the callback. */
  continuing<V, T>(run: WatchedRun, callback: (value: V) => T): (value: V) => T {
    return (value) => {
      let began = 0;
      let timedMs = 0;
      queueMicrotask(() => {
        began = this.now();
        timedMs = this.#timedMs;
      });
      try {
        return this.time(run, run.handler, () => callback(value));
      } finally {
        queueMicrotask(() => this.#timed(suspect(run), began, timedMs));
      }
    };
  }

  noteContinued(): void {
    this.#continuedAt = this.now();
  }

  tick(): void {
    const now = this.now();
    const ms = now - this.#tickedAt - TICK_MS / 2 - this.#timedMs;
    if (ms >= MIN_BLOCK_MS) this.#onUntimedBlock(ms, now);
    if (now > this.#closeUntil) this.#endCloseWatch?.();
    this.#restart();
  }

  #restart(): void {
    this.#tickedAt = this.now();
    this.#cpuAtTick = this.#clock.cpu();
    this.#timedMs = 0;
    this.#shortMs = 0;
    this.#longestMs = 0;
    this.#longest = undefined;
    if (this.#suspects.length > 0) this.#suspects = [];
  }

  /** @param before duration of the blocks that were timed before this code began */
  #timed(cause: Suspect, began: number, before: number): void {
    const elapsed = this.now() - began;
    if (elapsed < MIN_BLOCK_MS) {
      this.#noteShort(cause, elapsed);
      return;
    }
    // Without the blocks inside, which have another cause.
    const ms = elapsed - (this.#timedMs - before);
    if (ms < MIN_BLOCK_MS) return;
    this.#timedMs += ms;
    this.#reportUnlessStopped({ ms, suspects: [cause], isCertain: true }, began);
  }

  #noteShort(cause: Suspect, ms: number): void {
    this.#shortMs += ms;
    if (ms <= this.#longestMs) return;
    this.#longestMs = ms;
    this.#longest = cause;
  }

  #onUntimedBlock(ms: number, now: number): void {
    const suspects = this.#suspects;
    for (const run of this.#runs) if (isSuspect(run, now)) suspects.push(suspect(run));
    // Many handlers that are busy for a short time block the event loop together.
    const isShared = suspects.length === 0 && this.#shortMs >= ms / 2;
    if (isShared && this.#longest !== undefined) suspects.push(this.#longest);
    // On a busy machine, the code gets a part of the CPU. Without CPU time, the process was probably suspended.
    if (!this.#usedCpu(ms / 4)) return;
    this.#reportUnlessStopped({ ms, suspects, isCertain: false }, this.#tickedAt);
    this.#watchClosely(now);
  }

  /** @param began time at or before the block's beginning */
  #reportUnlessStopped(block: Block, began: number): void {
    if (this.#usedCpu(block.ms / 2)) {
      this.#report(block);
      return;
    }
    // The code waited, or the process was stopped. The signal arrives after this turn of the event loop.
    this.#clock.later(() => {
      if (this.#continuedAt < began) this.#report(block);
    });
  }

  /** Returns whether the thread has used this CPU time since the last tick, or as much as a whole block. */
  #usedCpu(ms: number): boolean {
    return this.#clock.cpu() - this.#cpuAtTick >= Math.min(ms, MIN_BLOCK_MS);
  }

  #report(block: Block): void {
    for (const listener of this.#listeners) listener(block);
  }

  #watchClosely(now: number): void {
    this.#closeUntil = now + CLOSE_WATCH_MS;
    if (this.#endCloseWatch !== undefined) return;
    let began = 0;
    let timedMs = 0;
    let run: WatchedRun | undefined;
    const end = promiseHooks.createHook({
      before: () => {
        began = this.now();
        timedMs = this.#timedMs;
        // Node 22 has left the async context when the continuation ends.
        run = currentRun();
      },
      after: () => {
        if (run !== undefined) this.#timed(suspect(run), began, timedMs);
      },
    });
    this.#endCloseWatch = () => {
      this.#endCloseWatch = undefined;
      end();
    };
  }
}

function isSuspect({ busySince }: WatchedRun, now: number): boolean {
  return busySince !== undefined && now - busySince >= MIN_BLOCK_MS;
}

function suspect(run: WatchedRun): Suspect {
  return { run, handler: run.handler };
}

/** The watch of this thread, shared by its bots. */
export const loopWatch: LoopWatch = new LoopWatch();
