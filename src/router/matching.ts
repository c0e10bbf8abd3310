import { normalizeText } from "../core/text.ts";
import { noteTexts } from "../events/parse.ts";
import {
  type Beginning,
  canMatch,
  commandBeginning,
  expressionBeginning,
  knownBeginning,
  textBeginning,
} from "./beginning.ts";
import { BoundedPattern } from "./bounded-pattern.ts";
import type { Chain, Route } from "./chain.ts";
import type { ContextOf } from "./handler.ts";
import { excerptOf, hasMessage } from "./message.ts";

/** Kind of text that commands and patterns match: direct messages, or mentions. */
export type TextKind = (typeof textKinds)[number];

export const textKinds = ["dm", "mention"] as const;

/** Options for `hears`. */
export interface HearsOptions<I extends TextKind = TextKind> {
  /** Matches only direct messages (`dm`) or only mentions (`mention`), or a list of both. Default: both. */
  readonly in?: I | readonly I[] | undefined;
}

/** Options for `command`. */
export interface CommandOptions<I extends TextKind = TextKind> extends HearsOptions<I> {
  /** The command's description in `bot.commands`. */
  readonly description?: string | undefined;
}

/** A bot command, for `/help`. */
export interface Command {
  /** Registered name, without the slash. */
  readonly name: string;
  /** Empty if the command has no description. */
  readonly description: string;
  /** Kinds of text that the command matches. Absent if it matches direct messages and mentions. */
  readonly in?: readonly TextKind[];
}

/** Fields that a command adds to the context. */
export interface CommandFields {
  /** The command, with what the user wrote after it. */
  readonly command: {
    /** The command's registered name. */
    readonly name: string;
    /** Text after the name, trimmed. Empty if there is none. */
    readonly args: string;
  };
}

/** Fields that `hears` adds to the context. */
export interface HearsFields {
  /** The match. The bot's name was removed from the text first. `match[0]` is the matched text. */
  readonly match: RegExpExecArray;
}

/** Event type of each kind of text. */
const TYPES = { dm: "dm.message", mention: "mention" } as const;

type TypeOf<I extends TextKind> = (typeof TYPES)[I];

/** Context of a `command` handler. `CommandContext<"dm">` is that of a command that works only in direct messages. */
export type CommandContext<I extends TextKind = TextKind> = ContextOf<TypeOf<I>> & CommandFields;

/** Context of a `hears` handler. `HearsContext<"dm">` is that of a handler of direct messages alone. */
export type HearsContext<I extends TextKind = TextKind> = ContextOf<TypeOf<I>> & HearsFields;

/** Returns the event types whose text is matched. */
export function textTypes(kinds: readonly TextKind[]): readonly string[] {
  return kinds.map((kind) => TYPES[kind]);
}

export interface TextPattern {
  /** Text with which every match begins. */
  readonly beginning: Beginning;
  /** Returns the fields for the context, or `undefined` if the text does not match. */
  readonly match: (text: string) => CommandFields | HearsFields | undefined;
  /** Names an expression that may be slow. */
  readonly slow?: string | undefined;
}

export interface TextEntry extends TextPattern {
  readonly kind: "text";
  /** Event types whose text is matched. */
  readonly types: readonly string[];
  readonly run: Chain;
  readonly command?: Command | undefined;
}

export interface TextRoute {
  readonly entry: TextEntry;
  readonly run: Chain;
}

/**
 * Finds the first handler that matches the full text, and adds its fields to the context. Requests the text only if the
 * excerpt allows a match.
 */
export async function firstMatch(
  routes: readonly TextRoute[],
  route: Route,
): Promise<Chain | undefined> {
  const { context, username } = route;
  if (!hasMessage(context.event)) return undefined;
  const withoutOwnName = (text: string) =>
    withoutName(normalizeText(text), username && normalizeText(username));
  const known = knownBeginning(excerptOf(context.event), withoutOwnName);
  const possible = routes.filter(({ entry }) => canMatch(known, entry.beginning));
  if (possible.length === 0) return undefined;
  const text = withoutOwnName(await context.text());
  for (const { entry, run } of possible) {
    const fields = entry.match(text);
    if (fields === undefined) continue;
    noteTexts(context.event, textsIn(fields));
    route.add(fields);
    return run;
  }
  return undefined;
}

/** A shorter group is mostly a keyword of the expression, and redacting it would make errors unreadable. */
const MIN_PRIVATE_LENGTH = 8;

/** Returns the texts in the fields that users wrote. */
function textsIn(fields: CommandFields | HearsFields): string[] {
  if ("command" in fields) return [fields.command.args];
  const groups = fields.match.filter((group) => group?.length >= MIN_PRIVATE_LENGTH);
  return [fields.match.input, ...groups];
}

/** Returns a case-insensitive matcher for `/name` and the text after it. */
export function commandPattern(name: string): TextPattern {
  const pattern = new RegExp(`^/${escaped(normalizeText(name))}(?:\\s|$)(.*)$`, "isu");
  return {
    beginning: commandBeginning(name),
    match: (text) => {
      const args = pattern.exec(text)?.[1];
      return args === undefined ? undefined : { command: { name, args: args.trimStart() } };
    },
  };
}

/** Returns a matcher for a regular expression, or for a complete text in any case. */
export function hearsPattern(pattern: string | RegExp): TextPattern {
  if (typeof pattern === "string") {
    const text = new RegExp(`^${escaped(normalizeText(pattern.trim()))}$`, "iu");
    return { beginning: textBeginning(pattern), match: matchOf(text) };
  }
  // Drop the flags g and y, because with them a match would depend on the previous match.
  const flags = pattern.flags.replace(/[gy]/g, "");
  const what = `hears(${pattern})`;
  const expression = new RegExp(normalizeText(pattern.source), flags);
  const bounded = new BoundedPattern(expression, what);
  return {
    beginning: expressionBeginning(expression),
    match: matchOf(bounded),
    slow: bounded.isSlow ? what : undefined,
  };
}

function matchOf(expression: Pick<RegExp, "exec">): TextPattern["match"] {
  return (text) => {
    const match = expression.exec(text);
    return match === null ? undefined : { match };
  };
}

/**
 * Removes the bot's name from the beginning and the end of a text, and from a command such as `/help@name`. While the
 * name is unknown, any name at the beginning is treated as the bot's name.
 */
export function withoutName(text: string, username: string | undefined): string {
  const name = username === undefined ? "[^\\s,:]+" : escaped(username);
  const ahead = new RegExp(
    `^(?:@${name}(?:[,:]\\s*|\\s+|$))${username === undefined ? "" : "+"}`,
    "iu",
  );
  const rest = text.trim().replace(ahead, "");
  if (username === undefined) return rest;
  const afterCommand = new RegExp(`^(/[^\\s@]+)@${name}(?=\\s|$)`, "iu");
  return withoutNameBehind(rest.replace(afterCommand, "$1"), username).trim();
}

/** Compares only the end of the text, because a search for white space before the name takes quadratic time. */
function withoutNameBehind(text: string, username: string): string {
  const name = new RegExp(`^\\s@${escaped(username)}$`, "iu");
  const length = username.length + 2;
  const endsWithName = (rest: string) => name.test(rest.slice(-length));
  let rest = text.replace(/[.!?]$/, "");
  if (!endsWithName(rest)) return text;
  while (endsWithName(rest)) rest = rest.slice(0, -length).trimEnd();
  return rest;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16)}`);
}
