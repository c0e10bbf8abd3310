import { readdirSync, readFileSync } from "node:fs";

/** The part of a SQLite connection that is used here. */
export interface MigratedDatabase {
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  transaction(work: () => void): { immediate(): void };
}

/**
 * Brings a schema up to date with the numbered SQL files of a folder, each in a transaction of its
 * own. The number of the last one applied is the file's `user_version`.
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

/** The files of a folder that make up a schema, in their order: their number is its newest version. */
export function migrationsIn(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
}
