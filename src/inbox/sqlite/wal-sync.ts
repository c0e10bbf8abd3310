import { closeSync, fdatasync, openSync } from "node:fs";
import type { Database } from "better-sqlite3";

/**
 * Syncs a file's WAL, and with it every commit so far. Another thread waits for the disk, so a slow disk delays
 * acknowledgements but not the event loop. SQLite itself syncs the rest, because checkpoints and a new WAL sync with
 * `synchronous = NORMAL` too.
 */
export class WalSync {
  readonly #wal: string;
  #fd: number | undefined;

  constructor(db: Database) {
    this.#wal = `${db.name}-wal`;
    db.pragma("synchronous = NORMAL");
  }

  /** Resolves once everything that was committed before the call is on disk. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      // SQLite keeps the WAL until the last connection closes. Windows syncs only files that are open for writing.
      this.#fd ??= openSync(this.#wal, "r+");
      fdatasync(this.#fd, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
