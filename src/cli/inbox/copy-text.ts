import type { CopyProgress, CopyReport } from "../../inbox/copy/copy.ts";
import { grouped, table } from "../text.ts";

/** So often is the line written anew, in milliseconds. */
const EVERY_MS = 100;

/** So many digits of a checksum are shown; --json has them all. */
const DIGITS = 16;

/** What was copied, table by table, and what to do next. */
export function copiedText(report: CopyReport, ms: number): string {
  const { from, to, clockMovedMs, tables } = report;
  const rows = tables.map(({ name, rows, checksum, instead }) => [
    name,
    grouped(rows),
    checksum.slice(0, DIGITS),
    instead === undefined ? "the same" : `DIFFERENT: ${grouped(instead.rows)} rows`,
  ]);
  const lines = [table(["TABLE", "ROWS", "SHA-256", "IN THE COPY"], rows), ""];
  if (clockMovedMs !== 0) {
    lines.push(`times were moved by ${clockMovedMs} ms, as the two clocks differ`);
  }
  if (tables.some(({ instead }) => instead !== undefined)) return lines.join("\n").trimEnd();
  return [
    ...lines,
    `copied and compared in ${(ms / 1_000).toFixed(1)} s: ${from} to ${to}`,
    "Start the bot with DATABASE_URL of the copy. No bot starts on the old place any more.",
  ].join("\n");
}

/** Shows how far a copy is, in one line of a terminal; nothing where there is none. */
export function progressLine(stream: NodeJS.WriteStream): {
  readonly show: (progress: CopyProgress) => void;
  readonly tell: (line: string) => void;
  readonly end: () => void;
} {
  let shownAt = Number.NEGATIVE_INFINITY;
  const tell = (line: string) => {
    if (!stream.isTTY || performance.now() - shownAt < EVERY_MS) return;
    shownAt = performance.now();
    stream.write(`\r\u001b[K${line}`);
  };
  return {
    show: ({ doing, table: name, rows, of }) =>
      tell(`${doing} ${name}: ${grouped(rows)} of ${grouped(of)}`),
    tell,
    end() {
      if (stream.isTTY) stream.write("\r\u001b[K");
    },
  };
}
