import { createLogger, type Logger } from "../faces/core.ts";

export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Classifies a line by its fields, because its wording may change. */
export function kindOf(line: LogRecord): string {
  if ("duplicates" in line) return "status" in line ? "delivery" : "page";
  if ("method" in line) return "request";
  if ("outcome" in line) return "step";
  if ("retryInMs" in line) return "retry";
  if (!("ms" in line)) return "handler";
  if (line.level === "warn") return "lost lease";
  return line.level === "error" ? "dead letter" : "handled";
}

/** Returns true if a line reports a switch between webhook and polling. Only such lines have both fields. */
export function isSwitch(line: LogRecord): boolean {
  return "mode" in line && "reason" in line;
}

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
