const MARK = "[redacted]";

/** Shorter texts ("hi", "ok") occur by chance in any line and hide nothing when they are cut out. */
const SHORTEST = 4;

/** Makes a function that takes every one of these values out of a text, also out of JSON. */
export function scrubber(values: readonly string[]): (text: string) => string {
  const written = values.filter((value) => value.length >= SHORTEST).flatMap(spellings);
  // The longest first: one that begins like another would leave the rest of it standing.
  const hidden = [...new Set(written)].sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, value) => rest.replaceAll(value, MARK), text);
}

/** Returns a text plain, in JSON, and in JSON that a line of the log quotes. */
function spellings(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, JSON.stringify(escaped).slice(1, -1)];
}

/** The fields that hold texts of people or secrets, at the top of a log record and one level down. */
const fields = [
  "ctx",
  "payload",
  "messages",
  "items",
  "text",
  "excerpt",
  "body",
  "apiKey",
  "secret",
  "secrets",
  "webhookSecret",
  "webhookSecrets",
  "authorization",
  "signature",
];

/** Paths that pino takes out of log records, so that `log.info({ event })` in a handler shows no message. */
export const redaction: { readonly paths: string[]; readonly censor: string } = {
  paths: [...fields, ...fields.map((field) => `*.${field}`), 'headers["x-service-signature"]'],
  censor: MARK,
};

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

/** Without a prototype: the serializer of a logger that is not ours would take its type for "Object". */
function shown(error: ShownError): ShownError {
  return Object.assign(Object.create(null), error);
}

/** Whether this is what {@link showError} has made. */
export function isShown(value: unknown): value is ShownError {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null;
}

/** Not everything that can be thrown has a text. */
function textOf(thrown: unknown, scrub: (text: string) => string): string {
  try {
    return scrub(String(thrown));
  } catch {
    return "";
  }
}
