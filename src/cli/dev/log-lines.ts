import { printable, printableText } from "../../core/terminal.ts";
import { clockTime } from "./timeline-lines.ts";

/** Turns the bot's JSON log lines into lines for people. */
export type LogFormatter = (line: string) => string | undefined;

export interface LogFormatterOptions {
  readonly colour: boolean;
  /** Where the bot should take deliveries; where it takes them elsewhere, that is told. */
  readonly webhook: string;
  /** Returns whether the bot reports its runs: then the timeline shows a failed one, and its log line is left out. */
  readonly isReporting?: () => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** What Node says when it starts the bot again. */
const RESTART = /^Restarting /;

/** Said by the platform's side of the timeline already. */
const repeated: ReadonlySet<unknown> = new Set([
  "delivery",
  "events from the log",
  "handled",
  "api",
]);

/**
 * Uses pino-pretty where the bot has it; otherwise the lines stay as they are. What is not JSON (a
 * `console.log`, a stack) stays as it is too. That the bot is ready comes with the time that its start has taken: since
 * this was called, or since it was started again.
 */
export async function logFormatter({
  colour,
  webhook,
  isReporting = () => false,
  now = Date.now,
}: LogFormatterOptions): Promise<LogFormatter> {
  const pretty = await loadPretty(colour);
  let started = now();
  return (line) => {
    const record = parse(line);
    if (record === undefined) {
      if (RESTART.test(line)) started = now();
      return printableText(line);
    }
    if (record.msg === "ready" && record.webhook !== undefined) {
      const elsewhere = record.webhook === webhook ? "" : printable(`  ${record.webhook}`);
      return `${clockTime(now())} bot ready ${((now() - started) / 1000).toFixed(1)} s${elsewhere}`;
    }
    if (isFailedRun(record) && isReporting()) return undefined;
    if (record.level === "info" && repeated.has(record.msg)) return undefined;
    return pretty(JSON.stringify(printableFields(record))).trimEnd();
  };
}

async function loadPretty(colour: boolean): Promise<(line: string) => string> {
  try {
    const { prettyFactory } = await import("pino-pretty");
    return prettyFactory({
      colorize: colour,
      singleLine: true,
      translateTime: "SYS:HH:MM:ss",
      messageFormat: "bot {msg}",
    });
  } catch {
    return (line) => line;
  }
}

/** Makes every text of a record printable before pino-pretty adds its colours. A stack keeps its lines. */
function printableFields(value: unknown, name = ""): unknown {
  if (typeof value === "string") return name === "stack" ? printableText(value) : printable(value);
  if (Array.isArray(value)) return value.map((item) => printableFields(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [printable(name), printableFields(field, name)]),
  );
}

interface LogRecord {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly webhook?: unknown;
  readonly err?: unknown;
  readonly attempt?: unknown;
}

/** Returns whether a line is about a failed run. One that a stop has cut short is not reported. */
function isFailedRun({ err, attempt }: LogRecord): boolean {
  const { code }: { code?: unknown } = Object(err);
  return err !== undefined && typeof attempt === "number" && code !== "NOT_READY";
}

function parse(line: string): LogRecord | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
