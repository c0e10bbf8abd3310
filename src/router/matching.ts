import type { Chain, Route } from "./chain.ts";
import type { ContextOf } from "./handler.ts";
import { excerptOf, hasMessage } from "./message.ts";

/** A bot command, for `/help`. */
export interface Command {
  /** Registered name, without the slash. */
  readonly name: string;
  /** Empty if the command has no description. */
  readonly description: string;
}

/** Fields that a command adds to the context. */
export interface CommandFields {
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

/** Event types whose text is matched against commands and patterns. */
export type TextType = "dm.message" | "mention";

/** Context of a `command` handler. */
export type CommandContext = ContextOf<TextType> & CommandFields;

/** Context of a `hears` handler. */
export type HearsContext = ContextOf<TextType> & HearsFields;

export const TEXT_TYPES: ReadonlySet<string> = new Set<TextType>(["dm.message", "mention"]);

export interface TextPattern {
  /** Normalized lower-case text that every match contains. */
  readonly needle: string;
  /** Returns the fields for the context, or `undefined` if the text does not match. */
  readonly match: (text: string) => CommandFields | HearsFields | undefined;
}

export interface TextEntry extends TextPattern {
  readonly kind: "text";
  readonly run: Chain;
  readonly command?: Command | undefined;
}

export interface TextRoute {
  readonly entry: TextEntry;
  readonly run: Chain;
}

/**
 * Finds the first handler that matches the full text, and adds its fields to the context. Requests the text only if the
 * excerpt, which is the beginning of the text, allows a match.
 */
export async function firstMatch(
  routes: readonly TextRoute[],
  route: Route,
): Promise<Chain | undefined> {
  const { context, username } = route;
  if (!hasMessage(context.event)) return undefined;
  const excerpt = fold(excerptOf(context.event));
  const possible = routes.filter(({ entry }) => excerpt === "" || excerpt.includes(entry.needle));
  if (possible.length === 0) return undefined;
  const text = withoutName((await context.text()).normalize(), username?.normalize());
  for (const { entry, run } of possible) {
    const fields = entry.match(text);
    if (fields === undefined) continue;
    route.add(fields);
    return run;
  }
  return undefined;
}

/** Maximum length of a needle, in characters. The excerpt might cut off a longer word. */
const MAX_NEEDLE_LENGTH = 16;

/** Returns a case-insensitive matcher for `/name` and the text after it. */
export function commandPattern(name: string): TextPattern {
  const pattern = new RegExp(`^/${escaped(name.normalize())}(?:\\s+|$)(.*)$`, "isu");
  return {
    needle: needleOf(`/${name}`),
    match: (text) => {
      const args = pattern.exec(text)?.[1];
      return args === undefined ? undefined : { command: { name, args } };
    },
  };
}

/** Returns a matcher for a regular expression, or for a complete text in any case. */
export function hearsPattern(pattern: string | RegExp): TextPattern {
  const isText = typeof pattern === "string";
  // Drop the flags g and y, because with them a match would depend on the previous match.
  const expression = isText
    ? new RegExp(`^${escaped(pattern.trim().normalize())}$`, "iu")
    : new RegExp(pattern.source.normalize(), pattern.flags.replace(/[gy]/g, ""));
  return {
    needle: isText ? needleOf(pattern) : "",
    match: (text) => {
      const match = expression.exec(text);
      return match === null ? undefined : { match };
    },
  };
}

/** Returns the beginning of the first word, because white space may differ in an excerpt. */
function needleOf(text: string): string {
  const [word = ""] = fold(text).trim().split(/\s/);
  return word.slice(0, MAX_NEEDLE_LENGTH);
}

function fold(text: string): string {
  return text.toLowerCase().normalize();
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
  const behind = new RegExp(`(?:\\s+@${name})+[.!?]?$`, "iu");
  const rest = text.trim().replace(ahead, "");
  if (username === undefined) return rest;
  const afterCommand = new RegExp(`^(/[^\\s@]+)@${name}(?=\\s|$)`, "iu");
  return rest.replace(afterCommand, "$1").replace(behind, "").trim();
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16)}`);
}
