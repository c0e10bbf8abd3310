import { printable, printableText } from "../../core/safe-text.ts";
import type { Platform, TimelineEntry } from "../../platform/index.ts";
import { wordsOf } from "../../platform/timeline/words.ts";
import { clockTime, printLine } from "../output.ts";

/** Prints what happens on a platform from now on, if it is worth a line. */
export function printTimeline(
  platform: Platform,
  writeLine: (line: string) => void = printLine,
): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line === undefined) return;
    for (const each of [line, ...stackLines(entry)]) writeLine(each);
  });
}

/** Describes a timeline entry in a line; `undefined` if it is not worth one. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  // Polling reads all the time; only what the bot writes is worth a line.
  if (entry.kind === "api" && entry.method === "GET" && entry.status === 200) return undefined;
  // A run that is done shows in what the bot writes.
  if (entry.kind === "run" && entry.outcome === "done") return undefined;
  return `${clockTime(entry.at)} ${wordsOf(entry)}`;
}

/** Returns the frames of a failed run's stack, if the bot has sent it with this run. */
export function stackLines(entry: TimelineEntry): readonly string[] {
  if (entry.kind !== "run" || entry.error?.stack === undefined) return [];
  const { type, message, stack } = entry.error;
  // The first line of a stack repeats the error.
  return stack.replace(`${type}: ${message}`, "").split("\n").filter(Boolean);
}

/** Turns the bot's JSON log lines into lines for people. */
export type LogFormatter = (line: string) => string | undefined;

export interface LogFormatterOptions {
  readonly colour: boolean;
  /** The address for deliveries. If the bot takes them elsewhere, its address is shown. */
  readonly webhook: string;
  /** Returns whether the bot reports its runs: then the timeline shows a failed one, and its log line is left out. */
  readonly isReporting?: () => boolean;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Begins Node's line about a restart of the bot. */
const RESTART = /^Restarting /;

/** Log lines that repeat what the timeline shows. */
const repeated: ReadonlySet<unknown> = new Set([
  "delivery",
  "events from the log",
  "handled",
  "api",
]);

/**
 * Uses pino-pretty if the bot has it; otherwise lines stay as they are. Text that is not JSON (a `console.log`, a stack)
 * stays as it is, too. The line "ready" shows the time since this call or the last restart.
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
