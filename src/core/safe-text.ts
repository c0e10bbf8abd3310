import { isError, messageOf, tryRead } from "../errors.ts";
import { trimEndOf } from "./text.ts";

export const REDACTED = "[redacted]";

/**
 * Minimum length of a redacted value, in characters. Shorter texts such as "hi" occur in any line by chance, so
 * redacting them hides nothing.
 */
const MIN_SCRUBBED_LENGTH = 4;

/** Creates a function that redacts the values in a text, including their JSON-escaped forms. */
export function scrubber(values: readonly string[]): (text: string) => string {
  const written = values.filter((value) => value.length >= MIN_SCRUBBED_LENGTH).flatMap(spellings);
  // Longest first, because one value may be a prefix of another.
  const hidden = [...new Set(written)].sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, value) => without(value, rest), text);
}

function without(value: string, text: string): string {
  // Almost no text has the value, and looking for it is cheaper than replacing it.
  return text.includes(value) ? text.replaceAll(value, REDACTED) : text;
}

/**
 * Returns the text itself, its JSON-escaped form, and its twice-escaped form, which appears in a log line that quotes
 * JSON.
 */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, JSON.stringify(escaped).slice(1, -1)];
}

/** An error as shown in logs and dead letters. */
export interface ShownError {
  /** The error's class, or the type of another thrown value. */
  readonly type: string;
  /** Without secrets and user texts. */
  readonly message: string;
  /** Absent if the error has none. */
  readonly code?: string;
  /** Absent if the error has none. */
  readonly stack?: string;
}

/**
 * Maximum length of each text of a shown error, in characters. A longer message would fill the log, and take long to
 * redact.
 */
const MAX_SHOWN_LENGTH = 16_384;

/** Maximum length of a value to redact, in characters. A value that is cut off is not recognized, so it is dropped. */
const MAX_REDACTED_LENGTH = 65_536;

/**
 * Describes a thrown value, with `scrub` applied to every text. A field that cannot be read is omitted, or shown as
 * unreadable.
 */
export function showError(
  error: unknown,
  scrub: (text: string) => string = (text) => text,
): ShownError {
  const redact = (text: string) => redactBeginning(text, scrub);
  if (!isError(error)) {
    const message = tryRead(() => String(error)) ?? "";
    return withoutPrototype({ type: typeof error, message: redact(message) });
  }
  const [name, code, stack] = [
    textIn(error, "name"),
    textIn(error, "code"),
    textIn(error, "stack"),
  ];
  return withoutPrototype({
    type: redact(name ?? "Error"),
    message: redact(messageOf(error)),
    ...(code === undefined ? {} : { code: redact(code) }),
    ...(stack === undefined ? {} : { stack: scrubStack(stack, messageOf(error), redact) }),
  });
}

/** Returns a field, or `undefined` if it is not a string or cannot be read. */
function textIn(error: Error, name: string): string | undefined {
  const value = tryRead(() => Reflect.get(error, name));
  return typeof value === "string" ? value : undefined;
}

/** Redacts a text, and cuts it to the maximum length. */
function redactBeginning(text: string, scrub: (text: string) => string): string {
  const longest = MAX_SHOWN_LENGTH + MAX_REDACTED_LENGTH;
  const redacted = scrub(text.slice(0, longest));
  const whole = text.length > longest ? redacted.slice(0, -MAX_REDACTED_LENGTH) : redacted;
  return whole.slice(0, MAX_SHOWN_LENGTH);
}

const FRAME = /^ +at /;

/** The end of a frame's location: line and column. */
const POSITION = /:\d+:\d+\)?$/;

/** The beginning of a frame's location. */
const PATH = /file:\/\/|node:|\/|[A-Za-z]:\\/;

/** Leaves the paths in stack frames unchanged, because a word from a user's text may occur in a path by chance. */
function scrubStack(stack: string, message: string, scrub: (text: string) => string): string {
  const [head = stack, frames] = splitStack(stack, message);
  if (frames === undefined) return scrub(head);
  const scrubbed = frames.split("\n").map((line) => {
    const at = locationIn(line);
    return scrub(line.slice(0, at)) + line.slice(at);
  });
  return scrub(head) + scrubbed.join("\n");
}

/**
 * Splits a stack after the message, whose lines may look like frames. Returns nothing if the message is not found,
 * because then any line may belong to it.
 */
function splitStack(stack: string, message: string): [head: string, frames: string] | [] {
  const at = stack.indexOf(`${message}\n`);
  const end = at + message.length;
  return at === -1 ? [] : [stack.slice(0, end), stack.slice(end, end + MAX_SHOWN_LENGTH)];
}

/** Describes an error by its class and its locations in the code, without texts. */
export function showErrorPlace(error: unknown): ShownError {
  if (!isError(error)) return withoutPrototype({ type: typeof error, message: REDACTED });
  const name = textIn(error, "name") ?? "";
  const type = /^\w{1,64}$/.test(name) ? name : "Error";
  const [, frames = ""] = splitStack(textIn(error, "stack") ?? "", messageOf(error));
  const places = frames
    .split("\n")
    .map((line) => trimEndOf(line.slice(locationIn(line)), ")"))
    .filter((place) => place !== "");
  const stack = [`${type}: ${REDACTED}`, ...places.map((place) => `    at ${place}`)].join("\n");
  return withoutPrototype({ type, message: REDACTED, stack });
}

/** Returns where a frame's location begins, after the function's name. Returns the line's length if there is none. */
function locationIn(line: string): number {
  const [at = ""] = FRAME.exec(line) ?? [];
  if (at === "" || !POSITION.test(line)) return line.length;
  const parenthesis = Math.max(line.lastIndexOf("("), line.lastIndexOf(")", line.length - 2)) + 1;
  const begin = Math.max(at.length, parenthesis);
  const path = line.slice(begin).search(PATH);
  return path === -1 ? line.length : begin + path;
}

/** Removes the prototype. Otherwise an application's own log serializer would log the type as "Object". */
function withoutPrototype(error: ShownError): ShownError {
  return Object.assign(Object.create(null), error);
}

/** Returns whether {@link showError} created the value. */
export function isShown(value: unknown): value is ShownError {
  if (typeof value !== "object" || value === null) return false;
  return tryRead(() => Object.getPrototypeOf(value)) === null;
}

/**
 * Characters that break lines, control a terminal, reverse the writing direction or are invisible: C0 (including ESC),
 * DEL, C1, bidi controls, line and paragraph separators, and lone surrogates. The two joiners are allowed, because
 * emoji and some scripts need them.
 */
const UNSEEN = "(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]";

/** SGR sequences (colours and styles), the only escape sequences that this project prints. */
const STYLE = "\\u001b\\[[\\d;]*m";

const unseen = new RegExp(UNSEEN, "gu");
const unseenInLines = new RegExp(`(?![\\n\\t])${UNSEEN}`, "gu");
const OTHER_THAN_ASCII = /[^\n\t\x20-\x7e]/;
const styleOrUnseen = new RegExp(`${STYLE}|(?![\\n\\t])${UNSEEN}`, "gu");
const style = new RegExp(`^${STYLE}$`);

/** Escapes every unprintable character, including line breaks, in the form `\u202e`. The result is a single line. */
export function printable(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/**
 * Escapes unprintable characters but keeps line feeds and tabs. JSON keeps its meaning, because these characters occur
 * only inside its strings, where the escapes are valid.
 */
export function printableText(text: string): string {
  // Looking for other characters than ASCII takes a quarter of the time, and most texts have none.
  return OTHER_THAN_ASCII.test(text) ? text.replace(unseenInLines, escapeCharacter) : text;
}

/**
 * Escapes unprintable characters but keeps line feeds, tabs and colours. Untrusted text must go through `printable`
 * first.
 */
export function printableStyled(text: string): string {
  return text.replace(styleOrUnseen, (found) =>
    style.test(found) ? found : escapeCharacter(found),
  );
}

/** Applies a function to the texts in a JSON value and to the names of its fields. It gets each text's field name. */
export function mapTexts(
  value: unknown,
  change: (text: string, field: string) => string,
  field = "",
): unknown {
  if (typeof value === "string") return change(value, field);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name, ""), mapTexts(inner, change, name)]),
  );
}

/** Escapes a character as JSON does, with a surrogate pair beyond U+FFFF. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16);
    return `\\u${unit.padStart(4, "0")}`;
  }).join("");
}
