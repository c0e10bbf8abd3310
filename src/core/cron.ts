import { Cron } from "croner";
import { messageOf, ServiceBotError } from "../errors.ts";

/** In ms. Cron patterns resolve to whole seconds. */
const SECOND_MS = 1_000;

/**
 * A cron pattern's ticks, in ms since 1970. A tick that a clock change skips is due at the first valid time after the
 * gap. A time that occurs twice has one tick.
 *
 * A pattern with `*` or a step in its hours, minutes or seconds is an interval. An interval skips the gap and has ticks
 * in both repeated hours.
 */
export class CronPattern {
  readonly #cron: Cron;

  /**
   * @param pattern five fields, or six with seconds first
   * @param timeZone IANA name, such as `Europe/Paris`
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(pattern: string, timeZone: string) {
    checkTimeZone(timeZone);
    this.#cron = parse(pattern, timeZone);
    if (this.after(Date.now()) === undefined) throw refusal(pattern, "the pattern never matches");
  }

  /** Returns the first tick after `time`; `undefined` if there is none. */
  after(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime();
  }

  /** Returns the last tick at or before `time`; `undefined` if there is none. */
  upTo(time: number): number | undefined {
    const exclusive = (Math.floor(time / SECOND_MS) + 1) * SECOND_MS;
    return this.#cron.previousRuns(1, new Date(exclusive))[0]?.getTime();
  }
}

function parse(pattern: string, timeZone: string): Cron {
  try {
    return new Cron(pattern, {
      paused: true,
      timezone: timeZone,
      mode: "5-or-6-parts",
      fixedTimeRule: "no-wildcard",
    });
  } catch (error) {
    throw refusal(pattern, messageOf(error).replace(/^\w+: |\.$/g, ""), error);
  }
}

function checkTimeZone(timeZone: unknown): void {
  try {
    if (typeof timeZone === "string") {
      new Intl.DateTimeFormat("en", { timeZone });
      return;
    }
  } catch {
    // The code below reports the problem.
  }
  throw new ServiceBotError(
    "INVALID_OPTION",
    `timeZone must be an IANA name such as "Europe/Paris" (got ${JSON.stringify(timeZone)}).`,
  );
}

function refusal(pattern: unknown, why: string, cause?: unknown): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `${JSON.stringify(pattern)} is not a cron pattern with five or six fields: ${why}.`,
    { cause },
  );
}
