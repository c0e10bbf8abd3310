import { mapTexts, printable, printableText } from "../../core/safe-text.ts";
import { tryRead } from "../../errors.ts";
import type { Platform, TimelineEntry } from "../../platform/index.ts";
import { wordsOf } from "../../platform/timeline/words.ts";
import { ownCommand } from "../command.ts";
import { clockTime, printLine, quoted } from "../output.ts";

export function printTimeline(
  platform: Platform,
  writeLine: (line: string) => void = printLine,
): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line === undefined) return;
    for (const each of [line, ...stackLines(entry), ...remedyLines(entry)]) writeLine(each);
  });
}

/** Returns `undefined` for a routine entry. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  // A polling bot reads constantly, so only writes and failures get a line.
  if (entry.kind === "api" && entry.method === "GET" && entry.status === 200) return undefined;
  // A successful run is visible through the bot's writes.
  if (entry.kind === "run" && entry.outcome === "done") return undefined;
  return `${clockTime(entry.at)} ${wordsOf(entry)}`;
}

export function stackLines(entry: TimelineEntry): readonly string[] {
  if (entry.kind !== "run" || entry.error?.stack === undefined) return [];
  const { type, message, stack } = entry.error;
  // The first line of a stack repeats the error.
  return stack.replace(`${type}: ${message}`, "").split("\n").filter(Boolean);
}

function remedyLines(entry: TimelineEntry): readonly string[] {
  if (entry.kind !== "run" || entry.outcome !== "dead") return [];
  // An uncertain step's message names other commands.
  if (entry.error?.message.includes("inbox retry")) return [];
  return [`    \`${ownCommand()} inbox retry ${quoted(entry.eventId)}\` runs it again`];
}

export type LogFormatter = (line: string) => string | undefined;

export interface LogFormatterOptions {
  readonly colour: boolean;
  /** Default URL for deliveries. The "ready" line shows the bot's URL only if it differs. */
  readonly webhook: string;
  /**
   * Returns true if the bot reports its runs to the platform. Log lines about failed runs are then dropped, because the
   * timeline shows them.
   */
  readonly isReporting?: () => boolean;
  readonly now?: () => number;
}

const repeated: ReadonlySet<unknown> = new Set([
  "delivery",
  "events from the log",
  "handled",
  "api",
]);

/**
 * Returns a formatter that uses pino-pretty if the bot has installed it. Lines that are not JSON, such as stacks and
 * `console.log` output, stay unchanged. The "ready" line shows the time since this call.
 */
export async function logFormatter({
  colour,
  webhook,
  isReporting = () => false,
  now = Date.now,
}: LogFormatterOptions): Promise<LogFormatter> {
  const pretty = await loadPretty(colour);
  const started = now();
  return (line) => {
    const record = parse(line);
    if (record === undefined) return printableText(line);
    if (record.msg === "ready" && record.webhook !== undefined) {
      const elsewhere = record.webhook === webhook ? "" : printable(`  ${record.webhook}`);
      return `${clockTime(now())} bot ready ${((now() - started) / 1000).toFixed(1)} s${elsewhere}`;
    }
    if (isFailedRun(record) && isReporting()) return undefined;
    if (record.level === "info" && repeated.has(record.msg)) return undefined;
    // A record may be nested deeper than the stack allows.
    const shown = tryRead(() => JSON.stringify(printableRecord(record)));
    return shown === undefined ? printableText(line) : pretty(shown).trimEnd();
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

/** Escapes all text in a record before pino-pretty adds colors. A stack keeps its line breaks. */
function printableRecord(record: object): unknown {
  return mapTexts(record, (text, field) =>
    field === "stack" ? printableText(text) : printable(text),
  );
}

interface LogRecord {
  readonly level?: unknown;
  readonly msg?: unknown;
  readonly webhook?: unknown;
  readonly err?: unknown;
  readonly attempt?: unknown;
}

/** Excludes runs that were cut short because the bot stopped. The bot does not report them to the platform. */
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
