import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { hasCode } from "../errors.ts";

/** The folder for files of the command line, such as the state of the local platform. */
export const PRIVATE_FOLDER = ".service-bot";

/** Suffixes of the files that SQLite keeps beside a database. They hold a part of its content. */
export const BESIDE: readonly string[] = ["-wal", "-shm", "-journal"];

/**
 * Makes the folder of a file with mode 0700. An existing folder keeps its mode, unless it is {@link PRIVATE_FOLDER}.
 */
export function makePrivateFolderOf(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (basename(folder) === PRIVATE_FOLDER) setMode(folder, 0o700);
}

/** Makes an empty file with mode 0600 unless it exists, because SQLite would go by the umask. Never throws. */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // The file exists, or SQLite reports why it cannot.
  }
}

/** Gives an existing database, and the files beside it, mode 0600. */
export function tightenDatabase(file: string): void {
  for (const suffix of ["", ...BESIDE]) setMode(`${file}${suffix}`, 0o600);
}

/** Leaves a file alone that is missing, or belongs to another user. */
function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!["ENOENT", "EPERM", "EROFS"].some((code) => hasCode(error, code))) throw error;
  }
}

/** The used part of a SQLite connection. */
export interface MigratedDatabase {
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  transaction(work: () => void): { immediate(): void };
}

/**
 * Brings a schema up to date with the numbered SQL files of a folder, each in a transaction of its own. The number of the
 * last one is the file's `user_version`.
 *
 * @param tooNew makes the error for a file that a newer version has written
 */
export function migrate(
  db: MigratedDatabase,
  folder: URL,
  tooNew: (versions: { readonly file: number; readonly known: number }) => Error,
): void {
  const names = migrationsIn(folder);
  const current = Number(db.pragma("user_version", { simple: true }));
  if (current > names.length) throw tooNew({ file: current, known: names.length });
  for (const [index, name] of names.entries()) {
    if (index < current) continue;
    const sql = readFileSync(new URL(name, folder), "utf8");
    const apply = db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    });
    apply.immediate();
  }
}

/** Returns the numbered files of a schema in order. Their count is its newest version. */
export function migrationsIn(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}
