import { messageOf } from "../errors.ts";

/**
 * Maximum nesting depth. JSON.stringify with a replacer overflows the stack from about 2,000 levels, and other versions
 * of Node may have less stack.
 */
const MAX_DEPTH = 1_000;

/**
 * Serializes a value as JSON, and rejects values that JSON would silently drop or change. Properties that are
 * `undefined` are still omitted, and `undefined` in an array becomes null.
 *
 * @returns `undefined` if the value is `undefined`
 * @throws {TypeError} with the path of the value that JSON would lose, such as `$.items[0] is a Map`, but never the
 *   value itself; or if the value is nested more than 1,000 levels deep
 */
export function toLosslessJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, refuseLosses());
  } catch (error) {
    // Keep only the first line, because Node draws cycles on the following lines.
    throw new TypeError(messageOf(error).split("\n")[0]);
  }
}

/** Position of an object in the value. */
interface Place {
  readonly path: string;
  /** 1 for the value itself. */
  readonly depth: number;
}

/** Returns a replacer for a single call of `JSON.stringify`. */
function refuseLosses() {
  const places = new WeakMap<object, Place>();
  return function refuseLoss(this: object, key: string, part: unknown): unknown {
    const above = places.get(this);
    const path = above === undefined ? "$" : above.path + accessOf(this, key);
    const problem = lossOf(this, key, part);
    if (problem !== undefined) throw new TypeError(`${path} ${problem}`);
    if (typeof part !== "object" || part === null) return part;
    const depth = (above?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) throw new TypeError(`$ is nested more than ${MAX_DEPTH} levels deep`);
    places.set(part, { path, depth });
    return part;
  };
}

/**
 * Describes why JSON would lose a value, worded to follow the value's path in a sentence. Returns `undefined` if JSON
 * would keep it.
 */
function lossOf(parent: object, key: string, part: unknown): string | undefined {
  switch (typeof part) {
    case "undefined":
      return Array.isArray(parent) && !(key in parent) ? "is a hole" : undefined;
    case "number":
      return Number.isFinite(part) ? undefined : `is ${part}`;
    case "bigint":
    case "function":
    case "symbol":
      return `is a ${typeof part}`;
    case "object":
      if (part === null) {
        return Reflect.get(parent, key) instanceof Date ? "is an invalid Date" : undefined;
      }
      return Array.isArray(part) || isPlain(part) ? undefined : `is a ${classOf(part)}`;
    default:
      return undefined;
  }
}

/** Compares by depth, because objects from another realm have their own root prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function classOf(value: object): string {
  // An object with a custom prototype may have no constructor.
  return value.constructor?.name || "class instance";
}

function accessOf(parent: object, key: string): string {
  if (Array.isArray(parent)) return `[${key}]`;
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
