import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from "pino";
import { isShown, printableText, REDACTED, scrubber, showError } from "./safe-text.ts";

/** A pino logger. */
export type Logger = PinoLogger;

/** pino's levels, from loud to quiet. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** Lines of this level and louder ones are logged. */
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Values that no line may show, wherever they turn up. */
  readonly secrets: readonly string[];
  /** Destination of the lines. Default: standard output. */
  readonly destination?: DestinationStream | undefined;
}

/** Fields with texts of people or secrets, at the top of a log record and one level down. */
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

/** Keeps `log.info({ event })` in a handler from showing a message. */
const redaction = {
  paths: [...fields, ...fields.map((field) => `*.${field}`), 'headers["x-service-signature"]'],
  censor: REDACTED,
};

/**
 * One JSON object a line. Texts of people are redacted by field, secrets wherever they stand. Control characters are
 * escaped, because `docker logs` and the like write the lines to a terminal.
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
 * Describes the field `err` of a line: an error with its causes, and without its other fields, which may hold anything. An
 * error that was described before stays as it is.
 */
function loggedError(thrown: unknown): unknown {
  if (isShown(thrown)) return thrown;
  const shown = showError(thrown, (text) => text);
  if (!(thrown instanceof Error)) return shown;
  const { message, stack } = stdSerializers.err(thrown);
  return { ...shown, message, stack };
}
