import { ServiceBotError } from "../errors.ts";

/**
 * Maximum number of timers, of states and of steps in one run. The timers and states of a run share one transaction,
 * and 10,000 of them block a bot with SQLite for about 0.1 s.
 */
const MAX_RUN_ITEMS = 10_000;

/**
 * Maximum size of a run's timers and states together, in bytes. They stay in memory until the run ends, and one
 * statement sends them to PostgreSQL.
 */
const MAX_RUN_BYTES: number = 16 * 1024 * 1024;

/**
 * @param items name of the items in the error, such as `timers`
 * @throws {ServiceBotError} RUN_TOO_LARGE
 */
export function checkRunItems(count: number, items: string): void {
  if (count <= MAX_RUN_ITEMS) return;
  throw tooLarge(`The run has more than ${MAX_RUN_ITEMS.toLocaleString("en-US")} ${items}.`);
}

/** @throws {ServiceBotError} RUN_TOO_LARGE */
export function checkRunBytes(bytes: number): void {
  if (bytes <= MAX_RUN_BYTES) return;
  throw tooLarge(`The run's timers and states have ${bytes} bytes; the limit is ${MAX_RUN_BYTES}.`);
}

function tooLarge(problem: string): ServiceBotError {
  return new ServiceBotError("RUN_TOO_LARGE", `${problem} Split the work over several events.`);
}
