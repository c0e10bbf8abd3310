import type { Chain, Route } from "./chain.ts";
import { excerptOf, hasMessage } from "./message.ts";

/** A command of a bot, for `/help`. */
export interface Command {
  /** Without the slash, as it was registered. */
  readonly name: string;
  /** Empty if none was given. */
  readonly description: string;
}

/** Fields that a command adds to the context. */
export interface CommandFields {
  readonly command: {
    /** As it was registered. */
    readonly name: string;
    /** The text behind the name, trimmed. Empty if there is none. */
    readonly args: string;
  };
}

/** Fields that `hears` adds to the context. */
export interface HearsFields {
  /** The match in the text, from which the bot's name was taken off. `match[0]` is what matched. */
  readonly match: RegExpExecArray;
}

/** Types whose text commands and patterns are compared with. */
export type TextType = "dm.message" | "mention";

export const TEXT_TYPES: ReadonlySet<string> = new Set<TextType>(["dm.message", "mention"]);

/** Recognises a text. */
export interface TextPattern {
  /** A text that is folded and lacks this does not match. */
  readonly needle: string;
  /** Returns the fields for the context; `undefined` if the text does not match. */
  readonly match: (text: string) => CommandFields | HearsFields | undefined;
}

/** A handler that is chosen by the text of a message or a mention. */
export interface TextEntry extends TextPattern {
  readonly kind: "text";
  readonly run: Chain;
  /** Set for a command. */
  readonly command?: Command | undefined;
}

/** A handler with the middleware of its modules around it. */
export interface TextRoute {
  readonly entry: TextEntry;
  readonly run: Chain;
}

/**
 * Finds the first handler that the whole text matches, and adds its fields to the context. The text is requested unless the
 * excerpt, which is its beginning, rules every handler out.
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

/** In characters. A longer word may be cut in the excerpt. */
const MAX_NEEDLE_LENGTH = 16;

/** Recognises `/name` and the text behind it, in any case. */
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

/** Recognises a whole text, in any case, or a regular expression. */
export function hearsPattern(pattern: string | RegExp): TextPattern {
  const isText = typeof pattern === "string";
  // Without the flags g and y, with which an expression remembers its last match.
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

/** The beginning of the first word, because an excerpt may differ in its white space. */
function needleOf(text: string): string {
  const [word = ""] = fold(text).trim().split(/\s/);
  return word.slice(0, MAX_NEEDLE_LENGTH);
}

function fold(text: string): string {
  return text.toLowerCase().normalize();
}

/**
 * Takes the bot's name off the beginning and the end of a text, and off a command, as in `/help@name`. While the name is
 * unknown, a name at the beginning counts as the bot's.
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
