import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";

/** What a person at a terminal types into and reads from. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/** The terminal of this process, where both of its ends are one. A pipe is left untouched. */
export function processTerminal(): Terminal | undefined {
  if (!isatty(0) || !isatty(1)) return undefined;
  const { stdin, stdout } = process;
  // A terminal that does not know its size says 0, and every letter would get a line of its own.
  if (stdout.columns === 0) Object.assign(stdout, { columns: 80, rows: 24 });
  return { input: stdin, output: stdout };
}
