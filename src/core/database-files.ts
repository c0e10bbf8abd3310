import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { hasCode } from "../errors.ts";

/** Folder for the CLI's files, such as the local platform's state. */
export const PRIVATE_FOLDER = ".service-bot";

/** Suffixes of the files that SQLite creates next to a database. These files contain parts of its data. */
export const BESIDE: readonly string[] = ["-wal", "-shm", "-journal"];

/**
 * Creates a file's parent folder with mode 0700. An existing folder keeps its mode unless it is {@link PRIVATE_FOLDER}.
 */
export function makePrivateFolderOf(file: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (basename(folder) === PRIVATE_FOLDER) setMode(folder, 0o700);
}

/**
 * Creates an empty file with mode 0600 unless the file exists, because SQLite itself would apply the umask. Never
 * throws.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch {
    // The file exists, or SQLite will report the error when it opens the file.
  }
}

export function tightenDatabase(file: string): void {
  for (const suffix of ["", ...BESIDE]) setMode(`${file}${suffix}`, 0o600);
}

/** Ignores files that are missing or belong to another user. */
function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!["ENOENT", "EPERM", "EROFS"].some((code) => hasCode(error, code))) throw error;
  }
}

/** The part of a SQLite connection that migrations use. */
export interface MigratedDatabase {
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  transaction(work: () => void): { immediate(): void };
}

/**
 * Applies a folder's numbered SQL migrations, each in its own transaction. `user_version` holds the number of the last
 * applied file.
 *
 * @param tooNew creates the error for a database written by a newer version
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

/** Returns a folder's numbered SQL files in order. Their count is the newest schema version. */
export function migrationsIn(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}

/** The part of a SQLite connection that {@link emptyDatabase} copies. */
export interface CopiedDatabase {
  serialize(): Buffer;
  close(): void;
}

/**
 * Returns a function that returns the bytes of an empty database. Only its first call creates the database: copying one
 * takes a twentieth of the time that its migrations take.
 */
export function emptyDatabase(create: () => CopiedDatabase): () => Buffer {
  let bytes: Buffer | undefined;
  return () => {
    if (bytes !== undefined) return bytes;
    const db = create();
    try {
      bytes = db.serialize();
    } finally {
      db.close();
    }
    return bytes;
  };
}
