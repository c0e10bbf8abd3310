import { timerEvent } from "../events/own.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { LookLoop, type LookLoopOptions } from "./loop.ts";

export interface DueTimersOptions extends LookLoopOptions {
  readonly inbox: Pick<Inbox, "fireTimers" | "onTimersSet">;
}

/** Maximum number of timers fired in one transaction. */
const PAGE = 200;

/**
 * Delay before retrying a due timer that this instance could not fire, in ms. Another instance may have locked the
 * timer.
 */
const HELD_MS = 50;

/** Turns due timers into inbox events. */
export class DueTimers {
  readonly #options: DueTimersOptions;
  readonly #loop: LookLoop;
  #unsubscribe: () => void = () => undefined;

  constructor(options: DueTimersOptions) {
    this.#options = options;
    this.#loop = new LookLoop(options, () => this.#fire());
  }

  /** Resolves after the first check. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.inbox.onTimersSet((inMs) => this.#loop.plan(inMs));
    await this.#loop.start();
  }

  close(): void {
    this.#unsubscribe();
    this.#loop.close();
  }

  async stop(): Promise<void> {
    this.close();
    await this.#loop.stop();
  }

  settled(): Promise<void> {
    return this.#loop.settled();
  }

  async #fire(): Promise<number | undefined> {
    const { inbox, log } = this.#options;
    const { fired, nextInMs } = await inbox.fireTimers(PAGE, timerEvent);
    if (fired > 0) log.debug({ timers: fired }, "timers are due");
    return fired === 0 && nextInMs === 0 ? HELD_MS : nextInMs;
  }
}
