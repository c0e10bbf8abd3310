/** A line, or several, on standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** One line of JSON, with the fields of the API. Times are milliseconds since 1970. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** A line, or several, on standard error. */
export function printError(text: string): void {
  process.stderr.write(`${text}\n`);
}
