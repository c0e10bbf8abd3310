import { toLosslessJson } from "../core/lossless-json.ts";
import {
  type StandardSchemaV1,
  type Validated,
  validate,
  validateNow,
} from "../core/standard-schema.ts";
import { messageOf, ServiceBotError } from "../errors.ts";

/**
 * Maximum size of a state's JSON, in bytes. The limit is low because each event that uses a state reads and writes all
 * of it.
 */
export const MAX_STATE_BYTES: number = 64 * 1024;

/** Handlers change a state in place, so a state must be an object or an array. */
export function isState(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** @throws {Error} with the reason why the state cannot be stored */
export function stateJson(value: object): string {
  const json = toLosslessJson(value);
  if (json === undefined) throw new TypeError("it is not JSON");
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_STATE_BYTES) return json;
  throw new RangeError(`it has ${bytes} bytes; the limit is ${MAX_STATE_BYTES}`);
}

/**
 * Returns the initial state that a schema defines, either for the whole state or for its properties.
 *
 * @throws {ServiceBotError} INVALID_OPTION if the schema defines none
 */
export function initialState(schema: StandardSchemaV1): Promise<object> {
  return run(schema, initialSteps());
}

/**
 * Checks that a schema defines an initial state, and accepts it again after a round trip through JSON. Otherwise every
 * event that uses the state would become a dead letter.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function checkInitialState(schema: StandardSchemaV1): Promise<void> {
  return run(schema, checkSteps());
}

/**
 * Checks a schema as {@link checkInitialState} does, but synchronously. An asynchronous schema stays unchecked.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function checkInitialStateNow(schema: StandardSchemaV1): void {
  const steps = checkSteps();
  for (let step = steps.next(); !step.done; ) {
    const read = resultNow(schema, step.value);
    if (read === undefined) return;
    step = steps.next(read);
  }
}

/** Values for a schema to validate, one after another. Receives each result. */
type Steps<T> = Generator<unknown, T, Validated<unknown>>;

async function run<T>(schema: StandardSchemaV1, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await validate(schema, step.value).catch(refused));
  return step.value;
}

function resultNow(schema: StandardSchemaV1, value: unknown): Validated<unknown> | undefined {
  try {
    return validateNow(schema, value);
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): Validated<unknown> {
  return { ok: false, problem: `the schema threw ${messageOf(error)}` };
}

function* initialSteps(): Steps<object> {
  let problem = "";
  for (const nothing of [undefined, {}]) {
    const read = yield nothing;
    if (read.ok && isState(read.value)) return read.value;
    problem = problemOf(read);
  }
  throw invalid(
    `A state schema must turn {} or undefined into an object (${problem}). Give each property a default.`,
  );
}

function* checkSteps(): Steps<void> {
  const json = initialJson(yield* initialSteps());
  const read = yield JSON.parse(json);
  if (read.ok && isState(read.value)) return;
  throw invalid(
    `A state schema must accept its initial state after a round trip through JSON (${problemOf(read)}). ` +
      "For example, a Date becomes a string, which z.coerce.date() accepts.",
  );
}

function problemOf(read: Validated<unknown>): string {
  return read.ok ? "the schema returned no object" : read.problem;
}

function initialJson(value: object): string {
  try {
    return stateJson(value);
  } catch (error) {
    throw invalid(`The initial state of a state schema cannot be stored: ${messageOf(error)}.`);
  }
}

function invalid(message: string): ServiceBotError {
  return new ServiceBotError("INVALID_OPTION", message);
}
