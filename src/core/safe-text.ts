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
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, REDACTED), text);
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

/** Describes a thrown value, with `scrub` applied to every text. */
export function showError(error: unknown, scrub: (text: string) => string): ShownError {
  if (!(error instanceof Error))
    return withoutPrototype({ type: typeof error, message: textOf(error, scrub) });
  const code = "code" in error && typeof error.code === "string" ? { code: scrub(error.code) } : {};
  const stack = error.stack === undefined ? {} : { stack: scrubStack(error, scrub) };
  return withoutPrototype({
    type: scrub(error.name),
    message: scrub(error.message),
    ...code,
    ...stack,
  });
}

const FRAME = /^ +at /;

/** The end of a frame's location: line and column. */
const POSITION = /:\d+:\d+\)?$/;

/** The beginning of a frame's location. */
const PATH = /file:\/\/|node:|\/|[A-Za-z]:\\/;

/** Leaves the paths in stack frames unchanged, because a word from a user's text may occur in a path by chance. */
function scrubStack({ stack = "", message }: Error, scrub: (text: string) => string): string {
  // A line of the message may look like a frame, so only the lines below the message are treated as frames.
  const at = stack.indexOf(`${message}\n`);
  if (at === -1) return scrub(stack);
  const end = at + message.length;
  const frames = stack.slice(end).split("\n");
  const scrubbed = frames.map((line) => {
    const at = locationIn(line);
    return scrub(line.slice(0, at)) + line.slice(at);
  });
  return scrub(stack.slice(0, end)) + scrubbed.join("\n");
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
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;
}

/** Returns "" for a thrown value that cannot be converted to a string. */
function textOf(thrown: unknown, scrub: (text: string) => string): string {
  try {
    return scrub(String(thrown));
  } catch {
    return "";
  }
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
  return text.replace(unseenInLines, escapeCharacter);
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

/** Escapes a character as JSON does, with a surrogate pair beyond U+FFFF. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16);
    return `\\u${unit.padStart(4, "0")}`;
  }).join("");
}
