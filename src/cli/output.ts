import { printable, printableStyled, printableText } from "../core/safe-text.ts";

// The command line writes here alone, so no control character of a text from outside reaches the terminal.

/** Prints a text of one or more lines on standard output. */
export function print(text: string): void {
  process.stdout.write(`${printableText(text)}\n`);
}

/** Prints exactly one line: a line break in a text from outside cannot forge another. */
export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints a text with colours of our own. Values from outside have to be `printable` before they get in. */
export function printStyled(text: string): void {
  process.stdout.write(`${printableStyled(text)}\n`);
}

/** Prints one line of JSON, with the fields of the API. Times are milliseconds since 1970. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Prints a text of one or more lines on standard error. */
export function printError(text: string): void {
  process.stderr.write(`${printableText(text)}\n`);
}

/** Erases the line in which the cursor stands. */
const ERASE_LINE = "\r\u001b[K";

/** In ms, between two updates of a progress line. */
const PROGRESS_INTERVAL_MS = 100;

/** Shows how far long work is. */
export interface Progress {
  readonly show: (what: string, done: number, of?: number) => void;
  readonly end: () => void;
}

/** Writes progress into one line of a terminal, and nothing anywhere else, or if a program reads the output. */
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

/** "3 min ago". */
export function age(at: number, now: number): string {
  const ms = now - at;
  if (ms < 0) return "in the future";
  if (ms < 1_000) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} days ago`;
}

/** "2026-11-20 16:02:11 UTC (3 min ago)". */
export function moment(at: number, now: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC (${age(at, now)})`;
}

/** The time of day on this machine. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** Makes a text from outside printable, and indents the lines after its first by so many columns. */
export function printableLines(text: string, columns: number): string {
  return text
    .split("\n")
    .map(printable)
    .join(`\n${" ".repeat(columns)}`);
}

/** One line of at most so many characters. */
export function cut(text: string, characters: number): string {
  const line = printable(text.replace(/\s+/g, " ").trim());
  const all = Array.from(line);
  return all.length <= characters ? line : `${all.slice(0, characters - 1).join("")}…`;
}

/** Columns as wide as their cells; the last one ends where its text does. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

/** "1,200". */
export function grouped(n: number): string {
  return n.toLocaleString("en-US");
}

/** "1 dead letter", "3 dead letters", "1,200 dead letters". */
export function count(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** "812 KB", "1.4 MB", "12 GB". */
export function bytes(n: number): string {
  const unit = (["KB", "MB", "GB"] as const).find((_, index) => n < 1000 * 1024 ** (index + 1));
  const size = n / 1024 ** (["KB", "MB", "GB", undefined].indexOf(unit) + 1);
  return `${size < 10 && unit !== "KB" ? size.toFixed(1) : Math.ceil(size)} ${unit ?? "TB"}`;
}

/** Quotes a word that a shell would change. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", "'\\''")}'`;
}
