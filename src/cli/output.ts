import { printable, printableStyled, printableText } from "../core/terminal.ts";

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

/** Erases the line in which the cursor stands. */
const ERASE_LINE = "\r\u001b[K";

/** Erases the screen, and puts the cursor at its top. */
const ERASE_SCREEN = "\u001b[2J\u001b[H";

/** Writes what stands in the line of the cursor, instead of what stood there before. */
export function overwriteLine(text: string): void {
  process.stdout.write(ERASE_LINE + printable(text));
}

export function clearScreen(): void {
  process.stdout.write(ERASE_SCREEN);
}

/** Returns the width of the terminal in columns; `undefined` if unknown. */
export function terminalColumns(): number | undefined {
  return process.stdout.columns;
}

/** Prints one line of JSON, with the fields of the API. Times are milliseconds since 1970. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Prints a text of one or more lines on standard error. */
export function printError(text: string): void {
  process.stderr.write(`${printableText(text)}\n`);
}
