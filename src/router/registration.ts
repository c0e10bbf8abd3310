import { types } from "node:util";
import { CronPattern } from "../core/cron.ts";
import { HANDLER_OPTIONS, type HandlerOptions } from "../core/handler-options.ts";
import { type Kind, oneOf, STRING } from "../core/kinds.ts";
import { authorCode } from "../core/loop-watch.ts";
import {
  type OptionTable,
  readOptions,
  refuseProblems,
  requireFunction,
  requireKind,
} from "../core/option-checks.ts";
import { isSchema, type StandardSchemaV1 } from "../core/standard-schema.ts";
import { cronType, timerType } from "../events/own.ts";
import { isEventType } from "../events/payload.ts";
import { type Chain, wrap } from "./chain.ts";
import { readTypes, refuseUnknownType } from "./event-types.ts";
import type { Handler, Middleware } from "./handler.ts";
import {
  type CommandOptions,
  commandPattern,
  type HearsOptions,
  hearsPattern,
  type TextEntry,
  type TextKind,
  textKinds,
  textTypes,
} from "./matching.ts";
import { checkData, checkPayload } from "./payload.ts";
import type { EventEntry, UnknownEntry } from "./routes.ts";

/**
 * Turns the arguments of router methods into entries of the routes. Checks them at run time, because JavaScript callers
 * and casts bypass the types. Every function throws a ServiceBotError INVALID_OPTION.
 */

/** Options for `cron`, in addition to the handler's options. */
export interface CronOptions extends HandlerOptions {
  /** Time zone of the pattern, as an IANA name such as `Europe/Paris`. Default `UTC`. */
  readonly timeZone?: string | undefined;
  /**
   * How to catch up on ticks that passed while no instance was running. `last` runs the handler for the last missed
   * tick only. `none` skips all missed ticks. A new cron job has no missed ticks. Default `last`.
   */
  readonly missed?: "last" | "none" | undefined;
}

const CRON_OPTIONS: OptionTable<CronOptions> = {
  ...HANDLER_OPTIONS,
  timeZone: STRING,
  missed: oneOf(["last", "none"]),
};

const TEXT_KINDS: Kind = {
  expected: '"dm" or "mention", or a list of them',
  fits: (value) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.length > 0 && list.every((kind) => textKinds.some((known) => known === kind));
  },
};

const HEARS_OPTIONS: OptionTable<HearsOptions> = { in: TEXT_KINDS };

const COMMAND_OPTIONS: OptionTable<CommandOptions> = {
  ...HEARS_OPTIONS,
  description: STRING,
};

/** @throws {ServiceBotError} UNKNOWN_EVENT_TYPE, with the permitted types */
export function eventEntries(
  types: string | readonly string[],
  rest: readonly unknown[],
): readonly EventEntry[] {
  const list = readTypes(types);
  const { schema, chain, options } = readHandler(`on("${list.join('", "')}")`, rest);
  for (const type of list) {
    if (/^(?:timer|cron):/.test(type))
      refuseProblems([`on() does not accept ${type}; use onTimer or cron`]);
    if (schema === undefined && !isEventType(type)) refuseUnknownType(type);
  }
  const run = schema === undefined ? chain : checkPayload(schema, chain);
  return list.map((type) => ({ kind: "event", type, run, options }));
}

export function unknownEntry(handler: unknown): UnknownEntry {
  const { chain } = readHandler("onUnknown()", [handler]);
  return { kind: "unknown", run: chain };
}

export function timerEntry(name: string, rest: readonly unknown[]): EventEntry {
  checkName("onTimer()", name);
  const { schema, chain, options } = readHandler(`onTimer("${name}")`, rest);
  const run = schema === undefined ? chain : checkData(schema, chain);
  return { kind: "event", type: timerType(name), run, options };
}

export function cronEntry(name: string, pattern: string, rest: readonly unknown[]): EventEntry {
  checkName("cron()", name);
  const { chain, options: given } = readAfterOptions(`cron("${name}")`, rest, CRON_OPTIONS);
  const { timeZone = "UTC", missed = "last", ...options } = given;
  requireKind("pattern", pattern, PATTERN);
  const cron = { name, pattern, timeZone, missed, moments: new CronPattern(pattern, timeZone) };
  return { kind: "event", type: cronType(name), run: chain, options, cron };
}

export function commandEntry(name: string, rest: readonly unknown[]): TextEntry {
  checkCommandName(name);
  const { chain, options } = readAfterOptions(`command("${name}")`, rest, COMMAND_OPTIONS);
  const kinds = readKinds(options);
  const isEverywhere = kinds.length === textKinds.length;
  const { description = "" } = options;
  const command = isEverywhere ? { name, description } : { name, description, in: kinds };
  return { kind: "text", types: textTypes(kinds), run: chain, command, ...commandPattern(name) };
}

export function hearsEntry(pattern: string | RegExp, rest: readonly unknown[]): TextEntry {
  checkHeard(pattern);
  const { chain, options } = readAfterOptions(`hears(${pattern})`, rest, HEARS_OPTIONS);
  const types = textTypes(readKinds(options));
  return { kind: "text", types, run: chain, ...hearsPattern(pattern) };
}

interface Parts {
  readonly schema: StandardSchemaV1 | undefined;
  readonly chain: Chain;
  readonly options: HandlerOptions;
}

/**
 * @param what name of the call in error messages, such as `on("mention")`
 * @throws {ServiceBotError} INVALID_OPTION
 */
function readHandler(what: string, given: readonly unknown[]): Parts {
  // Check first, because a schema may be a function.
  const schema = isSchema(given[0]) ? given[0] : undefined;
  const rest = schema === undefined ? given : given.slice(1);
  const last = rest.at(-1);
  const isLastOptions = rest.length > 1 && typeof last !== "function";
  const functions = isLastOptions ? rest.slice(0, -1) : rest;
  for (const part of functions.length === 0 ? [undefined] : functions) requireFunction(what, part);
  const isGiven = isLastOptions && last !== undefined;
  const options = isGiven ? readOptions(last as HandlerOptions, HANDLER_OPTIONS) : {};
  const handler = functions.at(-1) as Handler;
  const middleware = functions.slice(0, -1) as Middleware[];
  const innermost: Chain = async ({ context }) => {
    await authorCode(what, () => handler(context));
  };
  const wrapped = wrap(middleware, innermost, what);
  const chain: Chain =
    middleware.length === 0 ? wrapped : async (route) => await route.scoped(wrapped);
  return { schema, chain, options };
}

/**
 * Reads the arguments of a method whose options come before the handler.
 *
 * @param what name of the call in error messages
 * @throws {ServiceBotError} INVALID_OPTION
 */
function readAfterOptions<O extends object>(
  what: string,
  given: readonly unknown[],
  table: OptionTable<O>,
): { readonly chain: Chain; readonly options: O } {
  const isBare = typeof given[0] === "function" || given.length === 1;
  const options = isBare || given[0] === undefined ? ({} as O) : readOptions(given[0] as O, table);
  const { chain, options: late } = readHandler(what, isBare ? given : given.slice(1));
  const names = Object.keys(late).join(", ");
  refuseProblems([names === "" ? undefined : `${what} takes ${names} before the handler`]);
  return { chain, options };
}

/** Returns the kinds of texts that a command or pattern matches, in a fixed order. */
function readKinds({ in: given = textKinds }: HearsOptions): readonly TextKind[] {
  const list: readonly unknown[] = [given].flat();
  return textKinds.filter((kind) => list.includes(kind));
}

/** A five-field or six-field pattern. `CronPattern` parses it. */
const PATTERN: Kind = {
  expected: 'a cron pattern such as "0 9 * * *"',
  fits: (value) => typeof value === "string" && value.length <= MAX_PATTERN,
};

/** Maximum length of a cron pattern, in characters. Error messages repeat the pattern. */
const MAX_PATTERN = 500;

/** Maximum length of a text that `hears` matches, in characters. */
const MAX_HEARD = 10_000;

/** @throws {ServiceBotError} INVALID_OPTION */
function checkHeard(pattern: unknown): void {
  const isText = typeof pattern === "string" && pattern.trim() !== "";
  if (types.isRegExp(pattern) || (isText && pattern.length <= MAX_HEARD)) return;
  refuseProblems([
    `hears() needs a string of up to ${MAX_HEARD} characters or a regular expression`,
  ]);
}

/** No control characters, invisible characters or lone surrogates, because the name is part of an event type. */
const NAME = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

function checkName(what: string, name: unknown): void {
  if (typeof name === "string" && NAME.test(name)) return;
  refuseProblems([`${what} needs a name of 1 to 100 characters without control characters`]);
}

/** No white space, and no slash, which users type before the name. */
const COMMAND_NAME = /^[^\s\p{Cc}\p{Cf}\p{Cs}/@]{1,50}$/u;

function checkCommandName(name: unknown): void {
  if (typeof name === "string" && COMMAND_NAME.test(name)) return;
  refuseProblems(["command() needs a name of 1 to 50 characters without white space or slashes"]);
}
