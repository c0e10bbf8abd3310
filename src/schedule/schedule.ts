import { ServiceBotError } from "../errors.ts";
import type { CronView } from "../inbox/admin.ts";
import type { TimerName } from "../inbox/effects.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { Crons } from "./crons.ts";
import { type CronJob, DueMoments, type DueMomentsOptions } from "./due-moments.ts";
import { DueTimers, type DueTimersOptions } from "./due-timers.ts";

export interface ScheduleOptions
  extends Omit<DueMomentsOptions, "crons">,
    Omit<DueTimersOptions, "inbox"> {
  readonly inbox: Pick<Inbox, "put" | "cursor" | "fireTimers" | "onTimersSet" | "admin">;
  /** Cron jobs and timers that the bot handles. Read when the schedule starts. */
  readonly routes: {
    readonly crons: readonly CronJob[];
    readonly handlesTimers: boolean;
  };
}

/**
 * Third source of events besides the webhook and the event log: due timers and cron ticks. Idle if the bot handles
 * neither.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #crons: Crons;
  #sources: readonly (DueTimers | DueMoments)[] = [];

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#crons = new Crons(options);
  }

  crons(): Promise<readonly CronView[]> {
    return this.#crons.list();
  }

  /** Fires a cron job now. See {@link Crons.fire}. */
  fireCron(name: string): Promise<string | undefined> {
    return this.#crons.fire(name);
  }

  /**
   * Makes timers due now. Resolves to the number of timers once they have become events.
   *
   * @throws {ServiceBotError} HANDLER_MISSING if the bot has no handler for timers
   */
  async fireTimers(name: TimerName): Promise<number> {
    if (!this.#options.routes.handlesTimers) {
      throw new ServiceBotError(
        "HANDLER_MISSING",
        `The bot has no handler for this timer. Add bot.onTimer(${JSON.stringify(name.name)}).`,
      );
    }
    const count = await this.#options.inbox.admin.makeTimersDue(name);
    if (count > 0) await this.settled();
    return count;
  }

  /** Resolves after the first check, so that ticks after startup are not counted as missed. */
  async start(): Promise<void> {
    const { routes, ...rest } = this.#options;
    const { crons, handlesTimers } = routes;
    this.#sources = [
      ...(handlesTimers ? [new DueTimers(rest)] : []),
      ...(crons.length > 0 ? [new DueMoments({ ...rest, crons })] : []),
    ];
    await Promise.all(this.#sources.map((source) => source.start()));
  }

  /** Prevents further writes. */
  close(): void {
    for (const source of this.#sources) source.close();
  }

  /** Resolves when all writes have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.stop()));
  }

  /** Resolves when every due timer and tick is in the inbox. */
  async settled(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.settled()));
  }
}
