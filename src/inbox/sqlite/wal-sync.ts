import { closeSync, fdatasync, openSync, readSync, writeSync } from "node:fs";
import type { Database } from "better-sqlite3";

/** Pages in the WAL after which a commit checkpoints it. This is SQLite's default. */
const CHECKPOINT_PAGES = 1_000;

const CHUNK_BYTES = 1024 * 1024;

/**
 * Syncs a file's WAL, and with it every commit so far. Another thread waits for the disk, so a slow disk delays
 * acknowledgements but not the event loop. Checkpoints and the first write of a new WAL still sync in the commit, as
 * SQLite does with `synchronous = NORMAL`.
 */
export class WalSync {
  readonly #db: Database;
  readonly #fd: number;
  #hasFailed = false;

  /** @throws if the WAL cannot be opened */
  constructor(db: Database) {
    this.#db = db;
    // Windows syncs only files that are open for writing. SQLite keeps the WAL until the last connection closes.
    this.#fd = openSync(`${pathOf(db)}-wal`, "r+");
  }

  /** Resolves once everything that was committed before the call is on disk. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#hasFailed) this.#writeAgain();
      fdatasync(this.#fd, (error) => {
        this.#note(error !== null);
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** A checkpoint must not copy from a WAL that is not on disk, because a power loss could then corrupt the file. */
  #note(hasFailed: boolean): void {
    if (hasFailed === this.#hasFailed) return;
    this.#hasFailed = hasFailed;
    this.#db.pragma(`wal_autocheckpoint = ${hasFailed ? 0 : CHECKPOINT_PAGES}`);
  }

  /** After a failed sync, the kernel may take pages for written that are not, so that the next sync would skip them. */
  #writeAgain(): void {
    // No other process may write to the WAL meanwhile.
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let at = 0; ; ) {
        const length = readSync(this.#fd, chunk, 0, CHUNK_BYTES, at);
        if (length === 0) return;
        at += writeSync(this.#fd, chunk, 0, length, at);
      }
    } finally {
      this.#db.exec("ROLLBACK");
    }
  }
}

/** Returns the path that SQLite uses: absolute, and without symbolic links. */
function pathOf(db: Database): string {
  const [main] = db.pragma("database_list") as { readonly file: string }[];
  return main?.file ?? db.name;
}
