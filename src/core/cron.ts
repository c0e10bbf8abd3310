import { Cron } from "croner";
import { messageOf, ServiceBotError } from "../errors.ts";
import { quoteValue } from "./kinds.ts";

/** Resolution of cron patterns, in ms. */
const SECOND_MS = 1_000;

/**
 * Ticks of a cron pattern, in ms since 1970. A tick that a clock change skips fires at the first valid time after the
 * gap. If a local time occurs twice, its tick fires only once.
 *
 * Patterns with `*` or a step in the hours, minutes or seconds are intervals. They have no ticks in the gap, and fire
 * in both of the repeated hours.
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
    if (this.after(Date.now()) === undefined)
      throw invalidPattern(pattern, "the pattern never matches");
  }

  after(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime();
  }

  /** Returns the last tick at or before `time`, or `undefined` if there is none. */
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
    throw invalidPattern(pattern, messageOf(error).replace(/^\w+: |\.$/g, ""), error);
  }
}

function checkTimeZone(timeZone: unknown): void {
  try {
    if (typeof timeZone === "string") {
      new Intl.DateTimeFormat("en", { timeZone });
      return;
    }
  } catch {
    // Reported below.
  }
  throw new ServiceBotError(
    "INVALID_OPTION",
    `timeZone must be an IANA name such as "Europe/Paris" (got ${quoteValue(timeZone)}).`,
  );
}

function invalidPattern(pattern: unknown, why: string, cause?: unknown): ServiceBotError {
  return new ServiceBotError(
    "INVALID_OPTION",
    `${JSON.stringify(pattern)} is not a cron pattern with five or six fields: ${why}.`,
    { cause },
  );
}
