import { textsIn } from "./json.ts";
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
  const result = check(schema, value);
  if (!("then" in result)) return read(result, value);
  // Nothing waits for the promise, so its rejection must not end the process.
  result.then(undefined, () => undefined);
  return undefined;
}

function check<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  value: unknown,
): SchemaResult<Output> | Promise<SchemaResult<Output>> {
  return timed("schema", () => schema["~standard"].validate(value));
}

function read<Output>(result: SchemaResult<Output>, value: unknown): Validated<Output> {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const problems = result.issues.slice(0, MAX_PROBLEMS).map((issue) => problemOf(issue, value));
  return { ok: false, problem: problems.join("; ") };
}

export function isSchema(value: unknown): value is StandardSchemaV1 {
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isHolder || !("~standard" in value)) return false;
  const standard: { readonly validate?: unknown } = { ...Object(value["~standard"]) };
  return typeof standard.validate === "function";
}

/** Redacts the value's strings, because users may have written them and a library's message may quote them. */
function problemOf({ message, path = [] }: SchemaIssue, value: unknown): string {
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  const place = keys.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    const name = String(key);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return `$${place.join("")}: ${scrubber(textsIn(value))(message)}`;
}
