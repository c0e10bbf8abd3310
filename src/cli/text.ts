import { printable } from "../core/terminal.ts";

/** How things are shown to people. */

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

/** Makes a text from outside printable, its lines after the first so many columns in. */
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

/** Columns as wide as what is in them; the last one ends where its text does. */
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

/** "812 KB", "1.4 MB", "12 GB". */
export function bytes(n: number): string {
  const unit = (["KB", "MB", "GB"] as const).find((_, index) => n < 1000 * 1024 ** (index + 1));
  const size = n / 1024 ** (["KB", "MB", "GB", undefined].indexOf(unit) + 1);
  return `${size < 10 && unit !== "KB" ? size.toFixed(1) : Math.ceil(size)} ${unit ?? "TB"}`;
}

/** "1 dead letter", "3 dead letters", "1,200 dead letters". */
export function count(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** As a word that a shell takes for what it is. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${printable(text).replaceAll("'", "'\\''")}'`;
}
