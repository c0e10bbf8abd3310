import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from "pino";
import { isShown, printableText, REDACTED, scrubber, showError } from "./safe-text.ts";

/** A pino logger. */
export type Logger = PinoLogger;

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

/** Ensures that `log.info({ event })` in a handler does not log a user's message. */
const redaction = {
  paths: [...fields, ...fields.map((field) => `*.${field}`), 'headers["x-service-signature"]'],
  censor: REDACTED,
};

/**
 * Creates a logger that writes one JSON object per line. Users' texts are redacted by field, and secrets wherever they
 * appear. Control characters are escaped, because tools such as `docker logs` write the lines to a terminal.
 */
export function createLogger(options: LoggerOptions): Logger {
  const scrub = scrubber(options.secrets);
  return pino(
    {
      level: options.level,
      base: {},
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: redaction,
      serializers: { err: loggedError },
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        streamWrite: (line) => printableText(scrub(line)),
      },
    },
    options.destination ?? pino.destination({ fd: 1, sync: true }),
  );
}

/**
 * Serializes the `err` field: the error and its causes. Other fields are omitted because they may contain anything. An
 * error that is already serialized stays unchanged.
 */
function loggedError(thrown: unknown): unknown {
  if (isShown(thrown)) return thrown;
  const shown = showError(thrown, (text) => text);
  if (!(thrown instanceof Error)) return shown;
  const { message, stack } = stdSerializers.err(thrown);
  return { ...shown, message, stack };
}
