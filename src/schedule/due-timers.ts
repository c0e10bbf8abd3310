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
export class DueTimers extends LookLoop {
  readonly #options: DueTimersOptions;
  #unsubscribe: () => void = () => undefined;

  constructor(options: DueTimersOptions) {
    super(options);
    this.#options = options;
  }

  override async start(): Promise<void> {
    this.#unsubscribe = this.#options.inbox.onTimersSet((inMs) => this.plan(inMs));
    await super.start();
  }

  override close(): void {
    this.#unsubscribe();
    super.close();
  }

  protected override async look(): Promise<number | undefined> {
    const { inbox, log } = this.#options;
    const { fired, nextInMs } = await inbox.fireTimers(PAGE, timerEvent);
    if (fired > 0) log.debug({ timers: fired }, "timers are due");
    return fired === 0 && nextInMs === 0 ? HELD_MS : nextInMs;
  }
}
