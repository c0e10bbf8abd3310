/** The part of a value that JSON cannot keep. `path` begins with `$`, the value itself. */
export interface JsonProblem {
  readonly path: string;
  /** Continues a sentence that begins with the path: `is a Map`. */
  readonly problem: string;
}

/** The copy of a value as JSON keeps it, or the first part that would be lost or changed. */
export type JsonCopy =
  | { readonly ok: true; readonly value: unknown }
  | ({ readonly ok: false } & JsonProblem);

/** Levels. Far from where recursion ends, which is at some thousands. */
const MAX_DEPTH = 500;

/**
 * Copies a value as JSON keeps it: `toJSON` is called, properties that are `undefined` are left out, and `undefined` in
 * an array becomes null. Everything else that JSON would drop or change in silence is a problem.
 */
export function copyAsJson(value: unknown): JsonCopy {
  try {
    return { ok: true, value: copy(value, { path: "$", key: "", above: [] }) };
  } catch (error) {
    if (error instanceof Unkeepable) return { ok: false, path: error.path, problem: error.message };
    throw error;
  }
}

class Unkeepable extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(problem);
    this.path = path;
  }
}

/** The position of a part within the value. */
interface Position {
  readonly path: string;
  /** Passed to `toJSON`, as `JSON.stringify` does. */
  readonly key: string;
  /** The objects that contain the part. */
  readonly above: readonly object[];
}

function copy(value: unknown, at: Position): unknown {
  if (value === null || value === undefined) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return copyNumber(value, at);
  if (typeof value !== "object") throw new Unkeepable(at.path, `is a ${typeof value}`);
  if (at.above.includes(value)) throw new Unkeepable(at.path, "contains itself");
  if (at.above.length >= MAX_DEPTH) throw new Unkeepable(at.path, "is nested too deeply");
  const above = [...at.above, value];
  const json = convert(value, at);
  if (json !== value) return copy(json, { ...at, above });
  if (Array.isArray(value)) return copyArray(value, at.path, above);
  if (!isPlain(value)) throw new Unkeepable(at.path, `is a ${classOf(value)}`);
  return copyObject(value, at.path, above);
}

function copyNumber(value: number, { path }: Position): number {
  if (!Number.isFinite(value)) throw new Unkeepable(path, `is ${value}`);
  return value;
}

/** The value that an object converts itself to; the object itself without a `toJSON`. */
function convert(value: object, { path, key }: Position): unknown {
  if (!("toJSON" in value) || typeof value.toJSON !== "function") return value;
  const json: unknown = value.toJSON(key);
  if (json === null && value instanceof Date) throw new Unkeepable(path, "is an invalid Date");
  return json;
}

function copyArray(
  items: readonly unknown[],
  path: string,
  above: readonly object[],
): readonly unknown[] {
  return Array.from(items, (item, index) => {
    const at = { path: `${path}[${index}]`, key: String(index), above };
    if (!(index in items)) throw new Unkeepable(at.path, "is a hole");
    return copy(item, at) ?? null;
  });
}

/** Properties with symbols as keys are left out, as their type says. */
function copyObject(value: object, path: string, above: readonly object[]): object {
  const kept = Object.entries(value).flatMap(([key, part]) => {
    const json = copy(part, { path: path + accessOf(key), key, above });
    return json === undefined ? [] : [[key, json] as const];
  });
  return Object.fromEntries(kept);
}

/** Objects of another realm have a root prototype of their own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf(value: object): string {
  // An object without a constructor has a prototype of its own making.
  const name = value.constructor?.name;
  return name || "class instance";
}

function accessOf(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
