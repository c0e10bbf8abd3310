import { messageOf, ServiceBotError, tryRead } from "../errors.ts";
import { describeValue, isObject, type Kind, kindProblem, OBJECT } from "./kinds.ts";
import { pageUrl } from "./manifest.ts";
import { nearestName } from "./names.ts";

/**
 * A rule for every name in an options type: its kind, or the table for nested options. The compiler keeps the table
 * complete.
 */
export type OptionTable<T> = { readonly [K in keyof T]-?: OptionRule };

type OptionRule = Kind | NestedOptions;

interface NestedOptions {
  readonly options: OptionTable<object>;
  /** Whether `false` is valid too. */
  readonly orFalse?: true;
}

/**
 * Reads options once, and rejects unknown names and invalid values. Otherwise a mistake would become visible only when
 * something fails.
 *
 * @param path prefix of each option's name, if the argument is not named `options`, such as `query.`
 * @throws {ServiceBotError} INVALID_OPTION, listing every problem at once
 */
export function readOptions<T extends object>(
  given: T,
  table: OptionTable<object>,
  path?: string,
): T {
  const { values, problems } = inspectOptions(given, table, path);
  refuseProblems(problems);
  return values;
}

/**
 * Reads an object's fields once, and rejects invalid values. Skips unknown fields.
 *
 * @param path prefix of each field's name, such as `message.`
 * @throws {ServiceBotError} INVALID_OPTION, listing every problem at once
 */
export function readFields<T extends object>(
  given: T,
  table: OptionTable<object>,
  path: string,
): T {
  const { values, problems } = inspectFields(given, table, path);
  refuseProblems(problems);
  return values;
}

/** The values of an object's fields, and what is wrong with the others. */
export interface Inspected<T> {
  /** A field that is invalid or `undefined` is absent. */
  readonly values: T;
  readonly problems: readonly string[];
}

/**
 * Reads options once, and describes each unknown name and each invalid value. TypeScript reports unknown options only
 * in object literals, not in spread objects, and JavaScript reports none.
 *
 * @param path prefix of each option's name, such as `retry.`
 */
export function inspectOptions<T extends object>(
  given: T,
  table: OptionTable<object>,
  path = "",
): Inspected<T> {
  const { values, problems } = inspectFields(given, table, path);
  const names = namesIn(given) ?? [];
  return { values, problems: [...unknownOptions(names, Object.keys(table), path), ...problems] };
}

/**
 * Reads an object's fields once, and describes each invalid value. Skips unknown fields.
 *
 * @param path prefix of each field's name, such as `retry.`; empty for an argument named `options`
 */
export function inspectFields<T extends object>(
  given: T,
  table: OptionTable<object>,
  path: string,
): Inspected<T> {
  const what = path === "" ? "options" : path.slice(0, -1);
  const isReadable = namesIn(given) !== undefined;
  const problem =
    kindProblem(what, given, OBJECT) ?? (isReadable ? undefined : `${what} cannot be read`);
  if (problem !== undefined) return { values: {} as T, problems: [problem] };
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const rules: [string, OptionRule][] = Object.entries(table);
  for (const [name, rule] of rules) {
    const field = inspectField(given, name, rule, path);
    for (const found of field.problems) problems.push(found);
    if (field.values !== undefined) values[name] = field.values;
  }
  return { values: values as T, problems };
}

/** Returns the names of an object's fields, or `undefined` for another value and for an unreadable object. */
function namesIn(given: unknown): readonly string[] | undefined {
  return tryRead(() => (isObject(given) ? Object.keys(given) : undefined));
}

function inspectField(
  given: object,
  name: string,
  rule: OptionRule,
  path: string,
): Inspected<unknown> {
  const what = path + name;
  let value: unknown;
  try {
    value = Reflect.get(given, name);
  } catch (error) {
    return { values: undefined, problems: [`${what} cannot be read: ${messageOf(error)}`] };
  }
  if (isAbsent(value, rule)) return { values: value, problems: [] };
  if ("options" in rule) return inspectOptions(value as object, rule.options, `${what}.`);
  const problem = kindProblem(what, value, rule);
  return problem === undefined
    ? { values: value, problems: [] }
    : { values: undefined, problems: [problem] };
}

/** Returns whether the option is not given, or is switched off, so that its rule does not apply. */
function isAbsent(value: unknown, rule: OptionRule): boolean {
  if (value === undefined) return !("isRequired" in rule && rule.isRequired);
  return value === false && "orFalse" in rule && rule.orFalse === true;
}

/** Maximum number of unknown options in an error message, and of characters per name. */
const MAX_UNKNOWN = 10;
const MAX_NAME = 100;

function unknownOptions(
  names: readonly string[],
  known: readonly string[],
  path: string,
): string[] {
  const unknown = names.filter((name) => !known.includes(name));
  const shown = unknown
    .slice(0, MAX_UNKNOWN)
    .map((name) => unknownOption(name.slice(0, MAX_NAME), known, path));
  const more = unknown.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more unknown options`] : shown;
}

/** Options from earlier versions, which channels replace. */
const removed: readonly string[] = ["onRequest", "onHeldBack", "onBudget", "onBreaker"];

function unknownOption(name: string, known: readonly string[], path: string): string {
  if (removed.includes(name)) {
    return `${path}${name} was removed: subscribe to a channel (${pageUrl("operate/channels")})`;
  }
  const near = nearestName(name, known);
  const hint = near === undefined ? "" : ` (did you mean ${path}${near}?)`;
  return `unknown option ${path}${name}${hint}`;
}

/**
 * @param name names the argument
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function requireKind(name: string, value: unknown, kind: Kind): void {
  refuseProblems([kindProblem(name, value, kind)]);
}

/**
 * Copies an object's own fields.
 *
 * @param name names the argument
 * @throws {ServiceBotError} INVALID_OPTION, also if a getter throws
 */
export function copyFields<T extends object>(name: string, given: T): T {
  requireKind(name, given, OBJECT);
  try {
    return { ...given };
  } catch (error) {
    throw new ServiceBotError("INVALID_OPTION", `${name} cannot be read: ${messageOf(error)}.`);
  }
}

/**
 * @param what names the parameter, such as `on("mention")`
 * @throws {ServiceBotError} INVALID_OPTION
 */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value === "function") return;
  refuseProblems([`${what} needs a function (got ${describeValue(value)})`]);
}

/** @throws {ServiceBotError} INVALID_OPTION, listing every problem at once */
export function refuseProblems(problems: readonly (string | undefined)[]): void {
  const real = problems.filter((problem) => problem !== undefined);
  if (real.length > 0) throw new ServiceBotError("INVALID_OPTION", `${real.join("; ")}.`);
}
