/** Stands for everything that was taken out. */
export const REDACTED = "[redacted]";

/** Shorter texts ("hi", "ok") occur by chance in any line, and cutting them out hides nothing. */
const MIN_SCRUBBED_LENGTH = 4;

/** Makes a function that removes each of these values from a text, also from JSON. */
export function scrubber(values: readonly string[]): (text: string) => string {
  const written = values.filter((value) => value.length >= MIN_SCRUBBED_LENGTH).flatMap(spellings);
  // The longest first, because a value may begin like another one.
  const hidden = [...new Set(written)].sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, REDACTED), text);
}

/** Returns a text plain, in JSON, and in JSON that a line of the log quotes. */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, JSON.stringify(escaped).slice(1, -1)];
}

/** An error as a log record or a dead letter may show it. */
export interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

/** Describes what was thrown, with every text gone through `scrub`. */
export function showError(error: unknown, scrub: (text: string) => string): ShownError {
  if (!(error instanceof Error))
    return shown({ type: typeof error, message: textOf(error, scrub) });
  const code = "code" in error && typeof error.code === "string" ? { code: scrub(error.code) } : {};
  const stack = error.stack === undefined ? {} : { stack: scrub(error.stack) };
  return shown({ type: scrub(error.name), message: scrub(error.message), ...code, ...stack });
}

/** Drops the prototype, because the serializer of a user's logger would log its type as "Object". */
function shown(error: ShownError): ShownError {
  return Object.assign(Object.create(null), error);
}

/** Returns whether a value was made by {@link showError}. */
export function isShown(value: unknown): value is ShownError {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;
}

/** Returns "" for a thrown value that has no text. */
function textOf(thrown: unknown, scrub: (text: string) => string): string {
  try {
    return scrub(String(thrown));
  } catch {
    return "";
  }
}

/**
 * Characters that end a line, command a terminal, turn the direction of writing or cannot be seen: C0 (ESC among them),
 * DEL, C1, bidi controls, line and paragraph separators. The two joiners stay because emoji and scripts need them.
 */
const UNSEEN = "(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]";

/** Colours and the like (SGR): the only sequences that this project's own output contains. */
const STYLE = "\\u001b\\[[\\d;]*m";

const unseen = new RegExp(UNSEEN, "gu");
const unseenInLines = new RegExp(`(?![\\n\\t])${UNSEEN}`, "gu");
const styleOrUnseen = new RegExp(`${STYLE}|(?![\\n\\t])${UNSEEN}`, "gu");
const style = new RegExp(`^${STYLE}$`);

/** Makes one line of a text from outside. Unseen characters, line breaks included, become `\u202e`. */
export function printable(text: string): string {
  return text.replace(unseen, escapeCharacter);
}

/**
 * Does the same for a text of several lines: line feeds and tabs stay. JSON stays JSON of the same value, because
 * JSON knows these escapes and has the characters in its strings alone.
 */
export function printableText(text: string): string {
  return text.replace(unseenInLines, escapeCharacter);
}

/** Does the same for a text with colours of our own. Values from outside went through `printable` before. */
export function printableStyled(text: string): string {
  return text.replace(styleOrUnseen, (found) =>
    style.test(found) ? found : escapeCharacter(found),
  );
}

/** Writes a character as JSON does, beyond U+FFFF as its two halves. */
function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16);
    return `\\u${unit.padStart(4, "0")}`;
  }).join("");
}
