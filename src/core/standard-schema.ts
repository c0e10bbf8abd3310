import { ServiceBotError, tryRead, UNREADABLE } from "../errors.ts";
import { textsIn } from "./json.ts";
import type { Kind } from "./kinds.ts";
import { timed } from "./loop-watch.ts";
import { scrubber } from "./safe-text.ts";

/**
 * A schema from any library that follows Standard Schema v1 (standardschema.dev), such as zod, valibot and arktype. The
 * interface is small and public, so declaring it here saves a dependency.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** Properties of the interface. */
  readonly "~standard": {
    /** Version of the interface. */
    readonly version: 1;
    /** Name of the library. */
    readonly vendor: string;
    /** Checks a value, and returns the output or the issues. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Present for type inference only. */
    readonly types?:
      | {
          /** Type of the values that the schema accepts. */
          readonly input: Input;
          /** Type of the values that the schema returns. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** Result of a schema's check: a value, or the reasons why there is none. */
type SchemaResult<Output> =
  | {
      /** The schema's output. */
      readonly value: Output;
      /** Absent if the value is valid. */
      readonly issues?: undefined;
    }
  | {
      /** At least one. */
      readonly issues: readonly SchemaIssue[];
    };

/** A reason why a value does not match a schema. */
interface SchemaIssue {
  /** Text for a person. */
  readonly message: string;
  /** Path of the part that does not match. Absent for the whole value. */
  readonly path?:
    | readonly (
        | PropertyKey
        | {
            /** Name or index. */
            readonly key: PropertyKey;
          }
      )[]
    | undefined;
}

export type Validated<Output> =
  | { readonly ok: true; readonly value: Output }
  | {
      readonly ok: false;
      /** Each problem as `$.path: message`. The value's strings are redacted because users may have written them. */
      readonly problem: string;
    };

/** Maximum number of problems in a message, because a list may contain a thousand invalid items. */
const MAX_PROBLEMS = 5;

export async function validate<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): Promise<Validated<Output>> {
  return read(await check(schema, value), value);
}

/** Validates synchronously. Returns `undefined` if the schema is asynchronous. */
export function validateNow<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): Validated<Output> | undefined {
  const result: unknown = check(schema, value);
  const isAsynchronous = tryRead(() => typeof Object(result).then) === "function";
  if (!isAsynchronous) return read(result as SchemaResult<Output>, value);
  // Nothing waits for the promise, so its rejection must not end the process.
  Promise.resolve(result).catch(() => undefined);
  return undefined;
}

function check<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): SchemaResult<Output> | Promise<SchemaResult<Output>> {
  return timed("schema", () => schema["~standard"].validate(value));
}

/** @throws {ServiceBotError} INVALID_OPTION if the schema does not follow Standard Schema */
function read<Output>(result: SchemaResult<Output>, value: unknown): Validated<Output> {
  const issues = issuesOf(result);
  if (issues === undefined)
    return { ok: true, value: (result as { readonly value: Output }).value };
  const scrub = scrubber(textsIn(value));
  const problems = issues
    .slice(0, MAX_PROBLEMS)
    .map((issue) => tryRead(() => problemOf(issue, scrub)) ?? `$: ${UNREADABLE}`);
  return { ok: false, problem: problems.join("; ") };
}

/** Distinguishes a result without issues from one whose issues cannot be read. */
const NONE = Symbol();

/**
 * Returns the issues of a validation, or `undefined` if it succeeded.
 *
 * @throws {ServiceBotError} INVALID_OPTION if the schema does not follow Standard Schema
 */
function issuesOf(result: unknown): readonly SchemaIssue[] | undefined {
  if (typeof result === "object" && result !== null) {
    // The list may be inherited, as it is in arktype.
    const issues: unknown = tryRead(() => Reflect.get(result, "issues") ?? NONE);
    if (issues === NONE) return undefined;
    if (Array.isArray(issues)) return issues;
  }
  throw new ServiceBotError(
    "INVALID_OPTION",
    "A schema must return an object with value or with a list of issues, as Standard Schema (v1) specifies.",
  );
}

export const SCHEMA: Kind = {
  expected: "a Standard Schema (v1), such as a zod, valibot or arktype schema",
  fits: isSchema,
};

export function isSchema(value: unknown): value is StandardSchemaV1 {
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isHolder) return false;
  return tryRead(() => typeof Object(Reflect.get(value, "~standard")).validate) === "function";
}

/** @param scrub redacts the value's strings, because users may have written them and a message may quote them */
function problemOf({ message, path = [] }: SchemaIssue, scrub: (text: string) => string): string {
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  const place = keys.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    const name = String(key);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return `$${place.join("")}: ${scrub(message)}`;
}
