import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { parseEnv } from "node:util";

/** Maximum size of a configuration file, in bytes. A larger file is a mistake, such as a link to a device. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a text file, which may also be a pipe.
 *
 * @throws {RangeError} if it has more than 1 MiB
 * @throws the file system's error
 */
export function readSmallFile(path: string): string {
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  const file = openSync(path, "r");
  try {
    // The error of the first read would not contain the path.
    if (fstatSync(file).isDirectory()) {
      throw Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: "EISDIR" });
    }
    let length = 0;
    for (let read = -1; read !== 0 && length <= MAX_BYTES; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > MAX_BYTES) throw new RangeError(`${path} has more than ${MAX_BYTES} bytes`);
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}

const DOT_ENV = ".env";

/**
 * Sets the variables in `.env`. Variables that are already set take precedence.
 *
 * @returns all variables in the file, or `undefined` if there is no file
 * @throws the errors of {@link readSmallFile}
 */
export function loadDotEnv(): Readonly<Record<string, string | undefined>> | undefined {
  if (!existsSync(DOT_ENV)) return undefined;
  const values = parseEnv(readSmallFile(DOT_ENV));
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  return values;
}
