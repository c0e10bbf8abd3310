import { isRecord } from "./json.ts";

/**
 * Shapes of JSON values, such as the platform's responses. A bot needs so few of them that a schema library would take
 * more time and memory at each start than everything else in it.
 */
export interface Shape<T> {
  /**
   * Returns the value without the fields that do not belong to it. If it does not fit, adds to `problems` instead, and
   * what it returns must not be used.
   */
  read(value: unknown, problems: Problem[]): T;
  /** Returns the JSON Schema of what `read` returns. */
  json(): JsonSchema;
  /** Whether a field of this shape may be `undefined`, and is then left out. */
  readonly isOptional?: true;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A reason why a value does not fit. It never quotes the value, which may be secret. */
export interface Problem {
  /** Names and indexes that lead to the part that does not fit, outermost first. */
  readonly path: PropertyKey[];
  readonly message: string;
}

export type ShapeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function readShape<T>(shape: Shape<T>, value: unknown): ShapeResult<T> {
  const problems: Problem[] = [];
  const read = shape.read(value, problems);
  return problems.length === 0 ? { ok: true, value: read } : { ok: false, problems };
}

function simple<T>(
  expected: string,
  fits: (value: unknown) => value is T,
  json: JsonSchema,
): Shape<T> {
  return {
    read: (value, problems) => (fits(value) ? value : mismatch(expected, value, problems)),
    json: () => json,
  };
}

/** Its result stands for a value that is not used. */
function mismatch<T>(expected: string, value: unknown, problems: Problem[]): T {
  problems.push({ path: [], message: `expected ${expected}, received ${kindOf(value)}` });
  return undefined as T;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

export const string: Shape<string> = simple("string", (value) => typeof value === "string", {
  type: "string",
});

export const boolean: Shape<boolean> = simple("boolean", (value) => typeof value === "boolean", {
  type: "boolean",
});

/** Without NaN and infinities. JSON can contain a number that is too large. */
export const number: Shape<number> = simple(
  "number",
  (value): value is number => Number.isFinite(value),
  { type: "number" },
);

export const anything: Shape<unknown> = { read: (value) => value, json: () => ({}) };

/** @param values at least one */
export function oneOf<const T extends string | number>(...values: readonly T[]): Shape<T> {
  return simple(values.join(" or "), (value): value is T => values.includes(value as T), {
    enum: values,
  });
}

/** Creates a shape for what `change` makes of a value. */
export function changed<T>(shape: Shape<T>, change: (value: unknown) => unknown): Shape<T> {
  return { ...shape, read: (value, problems) => shape.read(change(value), problems) };
}

/** Accepts null too. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    ...shape,
    read: (value, problems) => (value === null ? null : shape.read(value, problems)),
    json: () => {
      const json = shape.json();
      const { type } = json;
      // An object's other keywords do not apply to null, but the short form is usual only for simple types.
      const isSimple = typeof type === "string" && Object.keys(json).length === 1;
      return isSimple ? { type: [type, "null"] } : { anyOf: [json, { type: "null" }] };
    },
  };
}

/** Accepts a missing field too. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return {
    json: shape.json,
    isOptional: true,
    read: (value, problems) => (value === undefined ? undefined : shape.read(value, problems)),
  };
}

/** Returns `undefined` for a value that does not fit. */
export function lenient<T>(shape: Shape<T>): Shape<T | undefined> {
  return {
    json: shape.json,
    isOptional: true,
    read: (value) => {
      const result = readShape(shape, value);
      return result.ok ? result.value : undefined;
    },
  };
}

export function arrayOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    read: (value, problems) => {
      if (!Array.isArray(value)) return mismatch("array", value, problems);
      return value.map((each, index) => readPart(item, each, index, problems));
    },
    json: () => ({ type: "array", items: item.json() }),
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;

type ReadFields<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Shape<infer T> ? T : never;
};

/** Creates a shape for objects with these fields. Other fields are left out. */
export function object<F extends Fields>(fields: F): Shape<ReadFields<F>> {
  const known = Object.entries(fields);
  return {
    read: (value, problems) => {
      if (!isRecord(value)) return mismatch("object", value, problems);
      return readFields(known, value, problems) as ReadFields<F>;
    },
    json: () => ({ ...describeFields(known), additionalProperties: false }),
  };
}

/** Creates a shape for objects with these fields. Other fields follow them, unchecked. */
export function openObject<F extends Fields>(
  fields: F,
): Shape<ReadFields<F> & Readonly<Record<string, unknown>>> {
  const known = Object.entries(fields);
  return {
    read: (value, problems) => {
      if (!isRecord(value)) return mismatch("object", value, problems);
      const read = readFields(known, value, problems);
      for (const name of Object.keys(value)) {
        // Assigning this name would set the prototype.
        if (name !== "__proto__" && !Object.hasOwn(fields, name)) read[name] = value[name];
      }
      return read as ReadFields<F>;
    },
    json: () => ({ ...describeFields(known), additionalProperties: {} }),
  };
}

type KnownFields = readonly (readonly [name: string, shape: Shape<unknown>])[];

function readFields(
  known: KnownFields,
  value: Readonly<Record<string, unknown>>,
  problems: Problem[],
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, shape] of known) {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    const field = readPart(shape, own, name, problems);
    if (field !== undefined) read[name] = field;
  }
  return read;
}

function describeFields(known: KnownFields): JsonSchema {
  const required = known.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(known.map(([name, shape]) => [name, shape.json()])),
    ...(required.length > 0 && { required }),
  };
}

function readPart<T>(shape: Shape<T>, value: unknown, name: PropertyKey, problems: Problem[]): T {
  const earlier = problems.length;
  const read = shape.read(value, problems);
  for (let index = earlier; index < problems.length; index += 1) {
    problems[index]?.path.unshift(name);
  }
  return read;
}
