/** Replaces every redacted value. */
export const REDACTED = "[redacted]";

/** In characters. Shorter texts ("hi", "ok") occur by chance in any line, and redacting them hides nothing. */
const MIN_SCRUBBED_LENGTH = 4;

/** Creates a function that redacts the values in a text, including their JSON spellings. */
export function scrubber(values: readonly string[]): (text: string) => string {
  const written = values.filter((value) => value.length >= MIN_SCRUBBED_LENGTH).flatMap(spellings);
  // Longest first, because one value may be a prefix of another.
  const hidden = [...new Set(written)].sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, REDACTED), text);
}

/** Returns a text as it is, JSON-escaped, and JSON-escaped twice, as in a log line that quotes JSON. */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, JSON.stringify(escaped).slice(1, -1)];
}

/** An error in the form that logs and dead letters show. */
export interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
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

/**
 * Location at the end of a frame. Group 1 is the function's name, which a handler may have taken from a user's text.
 */
const FRAME = /^( +at .*?)(\(?(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()]*:\d+:\d+\)?)$/;

/** Keeps the frames' paths, because a user's word often occurs in a path by chance. */
function scrubStack({ stack = "", message }: Error, scrub: (text: string) => string): string {
  // A line in the message may look like a frame, so only the lines below the message count.
  const at = stack.indexOf(`${message}\n`);
  if (at === -1) return scrub(stack);
  const end = at + message.length;
  const frames = stack.slice(end).split("\n");
  const scrubbed = frames.map((line) => {
    const [, name, place] = FRAME.exec(line) ?? [];
    return name === undefined || place === undefined ? scrub(line) : scrub(name) + place;
  });
  return scrub(stack.slice(0, end)) + scrubbed.join("\n");
}

/** Removes the prototype, because a user's log serializer would otherwise log the type as "Object". */
function withoutPrototype(error: ShownError): ShownError {
  return Object.assign(Object.create(null), error);
}

/** Returns whether {@link showError} created a value. */
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
 * Characters that break lines, control a terminal, reverse the writing direction or are invisible: C0 (with ESC), DEL,
 * C1, bidi controls, line and paragraph separators. The two joiners stay because emoji and some scripts need them.
 */
const UNSEEN = "(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]";

/** SGR sequences (colours and styles), the only escape sequences that this project prints. */
const STYLE = "\\u001b\\[[\\d;]*m";

const unseen = new RegExp(UNSEEN, "gu");
const unseenInLines = new RegExp(`(?![\\n\\t])${UNSEEN}`, "gu");
const styleOrUnseen = new RegExp(`${STYLE}|(?![\\n\\t])${UNSEEN}`, "gu");
const style = new RegExp(`^${STYLE}$`);

/** Escapes every unprintable character, including line breaks, as `\u202e`. The result is one line. */
export function printable(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/**
 * Escapes unprintable characters but keeps line feeds and tabs. JSON stays JSON of the same value, because such
 * characters occur in JSON strings only, where these escapes are valid.
 */
export function printableText(text: string): string {
  return text.replace(unseenInLines, escapeCharacter);
}

/**
 * Escapes unprintable characters but keeps line feeds, tabs and colours. Text from outside must pass `printable` first.
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
