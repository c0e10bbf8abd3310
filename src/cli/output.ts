import { styleText } from "node:util";
import { maxOf } from "../core/extremes.ts";
import { fillLine, WIDTH } from "../core/fill.ts";
import { createLogger, type Logger, type LogLevel } from "../core/logger.ts";
import { printable, printableStyled, printableText } from "../core/safe-text.ts";
import { uncaughtErrors } from "../core/uncaught.ts";

// All CLI output passes through this file, so that control characters in received text never reach the terminal.

export function print(text: string): void {
  process.stdout.write(`${printableText(text)}\n`);
}

/** Prints exactly one line. A line break in the text cannot forge another one. */
export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints text that contains colors. Escape received text with `printable` first. */
export function printStyled(text: string): void {
  process.stdout.write(`${printableStyled(text)}\n`);
}

const FIRST_SENTENCE = /^.*?[.?](?=\s|$)/s;

/**
 * Prints a line of JSON with the API's field names. Times are in ms since 1970, or with `utc` in ISO 8601.
 */
export function printJson(value: unknown, { utc = false }: TimeFlags = {}): void {
  print(JSON.stringify(value, utc ? withIsoTime : undefined));
}

export interface TimeFlags {
  /** True for absolute times in UTC. */
  readonly utc?: boolean | undefined;
}

function withIsoTime(name: string, value: unknown): unknown {
  return /At$/.test(name) && typeof value === "number" ? new Date(value).toISOString() : value;
}

export function printError(text: string): void {
  const stream = process.stderr;
  const [first = "", ...rest] = printableText(uncaughtErrors.redact(text))
    .split("\n")
    .map((line) => (stream.isTTY ? fillLine(line) : line));
  const [problem] = FIRST_SENTENCE.exec(first) ?? [first];
  const remedy = first.slice(problem.length);
  stream.write(`${[coloured("red", problem, stream) + remedy, ...rest].join("\n")}\n`);
}

/** Creates a logger that writes to standard error, without the secrets of this process. */
export function errorLogger(level: LogLevel): Logger {
  const write = (line: string) => void process.stderr.write(uncaughtErrors.redact(line));
  return createLogger({ level, secrets: [], destination: { write } });
}

export function coloured(
  colour: "red" | "yellow",
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return stream.isTTY ? styleText(colour, text, { stream }) : text;
}

const ERASE_LINE = "\r\u001b[K";

const PROGRESS_INTERVAL_MS = 100;

export interface Progress {
  readonly show: (what: string, done: number, of?: number) => void;
  readonly end: () => void;
}

/**
 * Returns a function that shows progress on one terminal line. The function is a no-op if the stream is not a terminal
 * or the output is JSON.
 */
export function progressOn(
  { json = false }: { readonly json?: boolean | undefined },
  stream: NodeJS.WriteStream = process.stderr,
): Progress {
  const isShown = stream.isTTY && !json;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(what, done, of) {
      if (!isShown || performance.now() - shownAt < PROGRESS_INTERVAL_MS) return;
      shownAt = performance.now();
      const count = of === undefined ? grouped(done) : `${grouped(done)} of ${grouped(of)}`;
      stream.write(`${ERASE_LINE}${what}: ${count}`);
    },
    end() {
      if (isShown) stream.write(ERASE_LINE);
    },
  };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function age(at: number, now: number): string {
  const ms = now - at;
  if (ms < 0) return "in the future";
  if (ms < 1_000) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} days ago`;
}

/** Formats the time left until a moment, such as "in 40 s". */
function timeLeft(at: number, now: number): string {
  const ms = at - now;
  if (ms < 1_000) return "now";
  if (ms < MINUTE) return `in ${Math.ceil(ms / 1_000)} s`;
  return ms < HOUR ? `in ${Math.ceil(ms / MINUTE)} min` : `in ${Math.ceil(ms / HOUR)} h`;
}

/** Formats a time with its age, such as "2026-11-20 16:02:11 UTC (3 min ago)". */
export function moment(at: number, now: number): string {
  return `${utcTime(at)} UTC (${age(at, now)})`;
}

function utcTime(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

/** Formats times for a table. */
export interface TimeFormat {
  readonly past: (at: number) => string;
  readonly future: (at: number) => string;
}

/** Returns a format that shows ages, such as "3 min ago", or with `utc` times, such as "2026-11-20 16:02:11Z". */
export function timeFormat({ utc = false }: TimeFlags, now: number = Date.now()): TimeFormat {
  const absolute = (at: number) => `${utcTime(at)}Z`;
  return utc
    ? { past: absolute, future: absolute }
    : { past: (at) => age(at, now), future: (at) => timeLeft(at, now) };
}

export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** Escapes received text, and indents every line after the first by `columns`. */
export function printableLines(text: string, columns: number): string {
  return text
    .split("\n")
    .map(printable)
    .join(`\n${" ".repeat(columns)}`);
}

export function cut(text: string, characters: number): string {
  const line = printable(text.replace(/\s+/g, " ").trim());
  const all = Array.from(line);
  return all.length <= characters ? line : `${all.slice(0, characters - 1).join("")}…`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => maxOf(all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => cutToTerminal(line.trimEnd()))
    .join("\n");
}

/** Truncates a line to the width of the terminal. A pipe or a file gets the whole line. */
function cutToTerminal(line: string, stream: NodeJS.WriteStream = process.stdout): string {
  const columns = stream.isTTY ? stream.columns || WIDTH : Number.POSITIVE_INFINITY;
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

export function grouped(n: number): string {
  return n.toLocaleString("en-US");
}

/** Formats a count, such as "1 dead letter" or "1,200 dead letters". */
export function count(n: number, noun: string, plural: string = `${noun}s`): string {
  return `${grouped(n)} ${n === 1 ? noun : plural}`;
}

/** Formats a size, such as "11 B", "812 KB", "1.4 MB" or "12 GB". */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const unit = (["KB", "MB", "GB"] as const).find((_, index) => n < 1000 * 1024 ** (index + 1));
  const size = n / 1024 ** (["KB", "MB", "GB", undefined].indexOf(unit) + 1);
  return `${size < 10 && unit !== "KB" ? size.toFixed(1) : Math.ceil(size)} ${unit ?? "TB"}`;
}

/** Quotes a word if the shell would change it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", "'\\''")}'`;
}
