import { KEY, type Kind, STRING } from "../core/kinds.ts";
import { type OptionTable, readOptions, requireKind } from "../core/option-checks.ts";
import type { When } from "../core/span.ts";
import { isSchema, type StandardSchemaV1 } from "../core/standard-schema.ts";
import { ServiceBotError } from "../errors.ts";
import { timerType } from "../events/own.ts";
import type { Job } from "../steps/step.ts";
import type { PendingTasks } from "./pending-tasks.ts";

/** Options for `ctx.later`. */
export interface LaterOptions {
  /**
   * Identifies the timer in its conversation. A new timer replaces an existing timer with the same name and key. 1 to
   * 100 characters, without control characters. Default: the event's id and a number.
   */
  readonly key?: string | undefined;
}

/** Context methods for state and timers. Changes are stored when the run succeeds. */
export interface EffectsContext {
  /**
   * Returns a state. In a bot with the `state` option, `state()` returns the state of this conversation (the lane), and
   * `state(key)` the state stored under another key. With a schema, returns the state stored under `key` with that
   * schema. Modules keep their state this way.
   *
   * Change the object in place. It is stored in the transaction that ends the event. If a run in another lane changes
   * the state meanwhile, the bot runs the handler again. Replies that it has sent by then remain, so only the state of
   * a lane can limit replies. The key has 1 to 100 characters, without control characters.
   *
   * @throws {ServiceBotError} INVALID_OPTION, STATE_MISMATCH, RUN_TOO_LARGE
   */
  state<V extends object>(key: string, schema: StandardSchemaV1<unknown, V>): Promise<V>;
  /**
   * Removes the conversation's state, or the state stored under `key`, when the run succeeds. The next `state()`
   * returns the schema's defaults.
   *
   * @throws {ServiceBotError} INVALID_OPTION, RUN_TOO_LARGE
   */
  clearState(key?: string): Promise<void>;
  /**
   * Sets a timer when the run succeeds. When the timer is due, the handler registered with `bot.onTimer(name, …)` runs
   * in the same conversation. Other events do not wait for the timer.
   *
   * @param when milliseconds, or a string such as `10m`, `1h30m` or `2d`, counted from the end of the run; or a `Date`,
   *   which is due at once if it is in the past. At most 365 days
   * @param data passed to the handler as `payload.data`. Up to 64 KiB of JSON
   * @returns the timer's key, for `cancel`
   * @throws {ServiceBotError} INVALID_OPTION, HANDLER_MISSING, RUN_TOO_LARGE
   */
  later(name: string, when: When, data?: unknown, options?: LaterOptions): Promise<string>;
  /**
   * When the run succeeds, cancels this conversation's timer with the given key, or all its timers with the given name.
   * A timer that is already due has become an event, which `cancel` does not remove.
   *
   * @returns the number of cancelled timers, including timers set by this run
   * @throws {ServiceBotError} INVALID_OPTION, HANDLER_MISSING, RUN_TOO_LARGE
   */
  cancel(name: string, key?: string): Promise<number>;
}

/** The run whose handlers change states and set timers. */
export interface EffectsRun {
  readonly job: Job;
  /** The run waits for all of these tasks. */
  readonly tasks: PendingTasks;
  /** Schema for `ctx.state()`. `undefined` if the bot has none. */
  readonly stateSchema: StandardSchemaV1 | undefined;
  readonly handledTypes: readonly string[];
}

/** Maximum length of a timer's name in an error message, in characters, as for a registered name. */
const MAX_NAME = 100;

const LATER_OPTIONS: OptionTable<LaterOptions> = { key: KEY };

/** The default keys of timers may be longer than a {@link KEY}. */
const TIMER_KEY: Kind = {
  expected: "a non-empty string",
  fits: (value) => typeof value === "string" && value !== "",
};

/**
 * Creates the context methods for state and timers. The run waits for every call, even if the handler does not await
 * it.
 */
export function createEffects({
  job,
  tasks,
  stateSchema,
  handledTypes,
}: EffectsRun): EffectsContext {
  const state = (key?: string, schema: unknown = stateSchema) =>
    tasks.start(async () => {
      checkKey("A state key", key, KEY);
      return await job.effects.state(key, isSchema(schema) ? schema : refuseSchema(schema));
    });
  return {
    // The schema determines the result's type.
    state: state as EffectsContext["state"],
    clearState: (key) =>
      tasks.start(async () => {
        checkKey("A state key", key, KEY);
        await job.effects.clearState(key);
      }),
    later: (name, when, data, options = {}) =>
      tasks.start(async () => {
        checkName(name, handledTypes);
        const { key } = readOptions(options, LATER_OPTIONS);
        return job.effects.later(name, when, data, key);
      }),
    cancel: (name, key) =>
      tasks.start(async () => {
        checkName(name, handledTypes);
        checkKey("A timer key", key, TIMER_KEY);
        return await job.effects.cancel(name, key);
      }),
  };
}

/** @throws {ServiceBotError} INVALID_OPTION */
function checkKey(what: string, key: unknown, kind: Kind): void {
  if (key !== undefined) requireKind(what, key, kind);
}

/** @throws {ServiceBotError} INVALID_OPTION, HANDLER_MISSING */
function checkName(name: string, handledTypes: readonly string[]): void {
  requireKind("name", name, STRING);
  if (handledTypes.includes(timerType(name))) return;
  throw new ServiceBotError(
    "HANDLER_MISSING",
    `The bot has no handler for the timer ${JSON.stringify(name.slice(0, MAX_NAME))}. Add bot.onTimer().`,
  );
}

function refuseSchema(schema: unknown): never {
  throw new ServiceBotError(
    "INVALID_OPTION",
    schema === undefined
      ? "ctx.state() needs the state option, as in new Bot({ state: schema })."
      : "The state schema must be a Standard Schema, such as one from zod, valibot or arktype.",
  );
}
