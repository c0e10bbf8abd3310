import { type StandardSchemaV1, validate } from "../core/standard-schema.ts";
import { messageOf, ServiceBotError } from "../errors.ts";
import type { StateWrite, StoredState } from "../inbox/effects.ts";
import { initialState, isState, stateJson } from "./state-value.ts";

/** The state stored under one key, as one run sees it. Handlers change its value in place. */
export class State {
  readonly #key: string;
  readonly #stored: StoredState | undefined;
  #reading: Reading | undefined;
  #isCleared = false;

  /** @param stored `undefined` if the key has no state */
  constructor(key: string, stored: StoredState | undefined) {
    this.#key = key;
    this.#stored = stored;
  }

  /**
   * Resolves to the value, the same object for the whole run.
   *
   * @throws {ServiceBotError} STATE_MISMATCH, INVALID_OPTION if the schema defines no initial state
   */
  async read(schema: StandardSchemaV1): Promise<object> {
    this.#reading ??= { schema, loaded: this.#load(schema) };
    if (this.#reading.schema === schema) return (await this.#reading.loaded).value;
    throw new ServiceBotError(
      "INVALID_OPTION",
      `The run reads the state "${this.#key}" with two schemas. Use a separate key for each schema.`,
    );
  }

  /** Deletes the state. The next read returns a new object with the initial state. */
  clear(): void {
    this.#isCleared = true;
    this.#reading = undefined;
  }

  /**
   * Resolves to the write for the store, or `undefined` if the run changed nothing.
   *
   * @throws {ServiceBotError} STATE_INVALID
   */
  async write(): Promise<StateWrite | undefined> {
    const value = this.#reading && (await this.#changed(this.#reading));
    const isGone = this.#isCleared && this.#stored !== undefined;
    if (value === undefined && !isGone) return undefined;
    return { key: this.#key, value, version: this.#stored?.version };
  }

  /** Resolves to the JSON of a changed value, or `undefined` if it is unchanged. */
  async #changed({ schema, loaded }: Reading): Promise<string | undefined> {
    // If the state was unreadable and the handler caught the error, leave the state unchanged.
    const state = await loaded.catch(() => undefined);
    if (state === undefined) return undefined;
    const json = this.#serialize(state.value);
    if (json === state.json) return undefined;
    // Validate the JSON instead of the value, because the next run reads the JSON.
    const read = await validate(schema, JSON.parse(json));
    if (!read.ok) this.#refuse(`it does not match the schema: ${read.problem}`);
    return json;
  }

  async #load(schema: StandardSchemaV1): Promise<Loaded> {
    if (this.#stored === undefined || this.#isCleared)
      return loadedState(await initialState(schema));
    const read = await validate(schema, JSON.parse(this.#stored.value));
    if (read.ok && isState(read.value)) return loadedState(read.value);
    throw new ServiceBotError(
      "STATE_MISMATCH",
      `The stored state "${this.#key}" does not match the schema${read.ok ? "" : `: ${read.problem}`}. ` +
        "Make the schema accept values stored by earlier versions, or delete the state.",
    );
  }

  #serialize(value: object): string {
    try {
      return stateJson(value);
    } catch (error) {
      return this.#refuse(messageOf(error));
    }
  }

  #refuse(why: string): never {
    throw new ServiceBotError("STATE_INVALID", `Cannot store the state "${this.#key}": ${why}.`);
  }
}

interface Reading {
  readonly schema: StandardSchemaV1;
  readonly loaded: Promise<Loaded>;
}

interface Loaded {
  readonly value: object;
  /** JSON of the value when it was read. */
  readonly json: string;
}

/** Copies the value, because a schema returns its default object by reference, and conversations would share it. */
function loadedState(shared: object): Loaded {
  try {
    const value = structuredClone(shared);
    return { value, json: JSON.stringify(value) };
  } catch (error) {
    throw new ServiceBotError(
      "INVALID_OPTION",
      `The state schema returned a value that cannot be cloned: ${messageOf(error)}.`,
    );
  }
}
