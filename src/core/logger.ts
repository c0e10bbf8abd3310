import {
  type Bindings,
  type DestinationStream,
  type LoggerOptions as PinoOptions,
  pino,
} from "pino";
import { causesOf, isError, messageOf, tryRead, UNREADABLE } from "../errors.ts";
import { standardOutput } from "./log-lines.ts";
import { isShown, printableText, REDACTED, scrubber, showError } from "./safe-text.ts";

/** A pino logger. */
export type Logger = pino.Logger;

/** Pino's levels, from most to least verbose. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** Minimum level to log. */
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Values to redact wherever they appear. */
  readonly secrets: readonly string[];
  /** Destination of log lines. Default: standard output. */
  readonly destination?: DestinationStream | undefined;
}

/** Fields that may contain users' texts or secrets, at the top level of a log record and one level down. */
const HIDDEN: ReadonlySet<string> = new Set([
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
  "x-service-signature",
]);

/**
 * Creates a logger that writes one JSON object per line. Users' texts are redacted by field, and secrets wherever they
 * appear. Control characters are escaped, because tools such as `docker logs` write the lines to a terminal.
 */
export function createLogger(options: LoggerOptions): Logger {
  const scrub = scrubber(options.secrets);
  const log = pino(
    {
      level: options.level,
      base: {},
      timestamp: isoTimes(),
      serializers: { err: loggedError },
      // Pino's own `redact` takes a sixth of the processor time of an event.
      formatters: { level: (label) => ({ level: label }), log: hideFields },
      hooks: {
        streamWrite: (line) => printableText(scrub(line)),
        logMethod(given, method) {
          try {
            if (!given.some(isNotJson)) return void Reflect.apply(method, this, given);
          } catch {
            // A getter or a proxy of a handler threw. Its log call must not end the run.
          }
          Reflect.apply(method, this, readable(given));
        },
      },
    },
    options.destination ?? standardOutput(),
  );
  // Children inherit these methods. Pino formats only the fields of each line.
  const { child, setBindings } = log;
  const hiding = {
    child(bindings: Bindings, options?: ChildOptions): unknown {
      const own = options === undefined ? [] : [hideAfter(options)];
      const create = (given: Bindings) => Reflect.apply(child, this, [hideFields(given), ...own]);
      return tryRead(() => create(bindings)) ?? create(readableFields(bindings));
    },
    setBindings(bindings: Bindings): void {
      const set = (given: Bindings) =>
        Reflect.apply(setBindings, this, [hideFields(given)]) ?? true;
      if (tryRead(() => set(bindings)) !== true) set(readableFields(bindings));
    },
  };
  return Object.assign(log, hiding);
}

/** Creates a function that returns the time as a field of a line. Lines of one millisecond share its text. */
function isoTimes(): () => string {
  let at = Number.NaN;
  let field = "";
  return () => {
    const now = Date.now();
    if (now !== at) field = `,"time":"${new Date(now).toISOString()}"`;
    at = now;
    return field;
  };
}

/** Ensures that `log.info({ event })` in a handler does not log a user's message. */
function hideFields(record: object): Record<string, unknown> {
  // The serializer of `err` chooses the fields to log.
  return hide(record, (value, name) => (name === "err" ? value : hideInside(value)));
}

/** Hides the fields of an object as JSON shows it. */
function hideInside(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { toJSON }: { readonly toJSON?: unknown } = value;
  try {
    const shown: unknown = typeof toJSON === "function" ? Reflect.apply(toJSON, value, []) : value;
    return typeof shown === "object" && shown !== null ? hide(shown, (nested) => nested) : shown;
  } catch {
    // Pino cannot serialize the value either, and logs that instead.
    return value;
  }
}

/** Returns the record itself if nothing in it changes. */
function hide(
  record: object,
  inside: (value: unknown, name: string) => unknown,
): Record<string, unknown> {
  const fields = record as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const shown = HIDDEN.has(name) && value !== undefined ? REDACTED : inside(value, name);
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

/** Returns whether pino would write the value as something that is not JSON. */
function isNotJson(value: unknown): boolean {
  return typeof value === "symbol" || typeof value === "function";
}

/** Returns the arguments of a log call without what cannot be read. */
function readable([first, ...rest]: readonly unknown[]): [object, ...string[]] {
  if (isObject(first)) return [readableFields(first), ...rest.map(readableText)];
  return [{}, ...[first, ...rest].map(readableText)];
}

function readableText(value: unknown): string {
  return isError(value) ? messageOf(value) : (tryRead(() => String(value)) ?? UNREADABLE);
}

function readableFields(record: object): Record<string, unknown> {
  if (isError(record)) return { err: showError(record) };
  const names = tryRead(() => Object.keys(record)) ?? [];
  return Object.fromEntries(names.map((name) => [name, readableField(record, name)]));
}

function readableField(record: object, name: string): unknown {
  const value: unknown = tryRead(() => Reflect.get(record, name));
  if (isError(value)) return showError(value);
  if (isObject(value)) return tryRead(() => JSON.parse(JSON.stringify(value))) ?? UNREADABLE;
  return typeof value === "symbol" ? String(value) : value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

type ChildOptions = Pick<PinoOptions, "serializers" | "formatters">;

/** Hides the fields in what a child's own serializers and formatters return. */
function hideAfter(options: ChildOptions): ChildOptions {
  const { serializers = {}, formatters = {} } = options;
  const after = <A, B>(first: (value: A) => B, second: (value: B) => B) => {
    return (value: A) => second(first(value));
  };
  const own = Reflect.ownKeys(serializers).map((name) => {
    return [name, after(Reflect.get(serializers, name), hideInside)];
  });
  const { log, bindings } = formatters;
  return {
    ...options,
    serializers: Object.fromEntries(own),
    formatters: {
      ...formatters,
      ...(log && { log: after(log, hideFields) }),
      ...(bindings && { bindings: after(bindings, hideFields) }),
    },
  };
}

/**
 * Serializes the `err` field: the error and its causes. Other fields are omitted because they may contain anything. An
 * error that is already serialized stays unchanged.
 */
function loggedError(thrown: unknown): unknown {
  if (isShown(thrown)) return hideInside(thrown);
  const shown = showError(thrown);
  const chain = causesOf(thrown).map((error) => showError(error));
  if (chain.length < 2) return shown;
  return {
    ...shown,
    message: chain.map(({ message }) => message).join(": "),
    stack: chain.map(({ type, message, stack = `${type}: ${message}` }) => stack).join(CAUSED_BY),
  };
}

const CAUSED_BY = "\ncaused by: ";
