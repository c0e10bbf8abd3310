import { createLogger, type Logger } from "../faces/core.ts";

/** What was logged: one record a line. */
export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A logger and the lines it has written. */
export function logSink(secrets: readonly string[] = []): {
  readonly log: Logger;
  readonly records: readonly LogRecord[];
  text(): string;
} {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return {
    log: createLogger({ level: "trace", secrets, destination }),
    get records() {
      return lines.map((line): LogRecord => JSON.parse(line));
    },
    text: () => lines.join(""),
  };
}
