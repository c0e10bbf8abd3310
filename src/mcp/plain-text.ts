import { printable } from "../core/terminal.ts";

/** Writes a value as JSON on one line. Texts in it are in quotation marks, and none gets out of them. */
export function quoted(value: unknown): string {
  return printable(JSON.stringify(value));
}
