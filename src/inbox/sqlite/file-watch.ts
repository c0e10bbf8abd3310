import { fstatSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { messageOf, ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import { firstStamp, nextStamp, readStamp, type Stamps, setStamp } from "./stamps.ts";

/** A problem with an inbox's files, which lasts until an operator solves it. */
export interface FileProblem {
  /**
   * `database`: the database is not at its path. `overwritten`: another program wrote to a file. `beside`: the WAL, its
   * index or the lock is not at its path.
   */
  readonly kind: "database" | "overwritten" | "beside";
  /** Path of the affected file. */
  readonly path: string;
  /** Two sentences: the file and what happened to it, and the remedy. */
  readonly text: string;
}

export interface FileWatchOptions {
  readonly db: Database;
  /** Configured path of the database. It may contain symbolic links, which another program may change. */
  readonly file: string;
  /** Path of the database, without symbolic links. */
  readonly path: string;
  /** Path of the lock file. */
  readonly lock: string;
  /**
   * Handle of the database, opened before `db`. It must stay open until `db` is closed, because closing it releases the
   * process's locks on the file.
   */
  readonly handle: number;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

interface WatchedFile {
  readonly path: string;
  readonly kind: "database" | "beside";
  readonly device: bigint;
  readonly inode: bigint;
}

const RESTART = "Restart the bot.";
const MOVE_BACK = "Move the bot's file back.";
const USE_COPY = "Stop the bot, and move the copy that it saved (….saved-…) to this path.";
const RESTORE =
  "Stop the bot, and restore a backup with `npx service-bot inbox restore BACKUP --move-old`.";

/** Sizes in a WAL, in bytes. */
const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/**
 * Checks that an inbox's files are still at their paths and that nothing else has overwritten them. Otherwise, SQLite
 * would go on writing to files that the next process cannot find.
 */
export class FileWatch {
  readonly #db: Database;
  readonly #path: string;
  readonly #handle: number;
  readonly #files: readonly WatchedFile[];
  readonly #pageBytes: number;
  /** Stamps that the database may have after this process has ended. */
  readonly stamps: Stamps;
  /** Newest stamp of this process. */
  #stamp: number;
  /** Stamp in the database file. It changes to the newest stamp with a checkpoint. */
  #stampInFile: number | undefined;
  #overwritten: FileProblem | undefined;
  #problem: FileProblem | undefined;
  #onChange: (problem: FileProblem | undefined) => void = () => undefined;
  readonly #bot: object | undefined;

  /** @throws if a file is missing */
  constructor({ db, file, path, lock, handle, bot }: FileWatchOptions) {
    this.#db = db;
    this.#path = path;
    this.#handle = handle;
    this.#bot = bot;
    this.#pageBytes = Number(db.pragma("page_size", { simple: true }));
    const beside = [`${path}-wal`, `${path}-shm`, lock];
    const names = new Set([path, file]);
    this.#files = [
      ...Array.from(names, (each) => identify(each, "database")),
      ...beside.map((each) => identify(each, "beside")),
    ];
    this.#stampInFile = readStamp(handle);
    this.#stamp = firstStamp();
    this.stamps = { inFile: this.#stampInFile, first: this.#stamp };
  }

  /** `undefined` while the files are in order. */
  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  /** True if the database no longer has a path. */
  get isDeleted(): boolean {
    return fstatSync(this.#handle).nlink === 0;
  }

  /** True while no other process can have the inbox's lock. */
  get hasLock(): boolean {
    const lock = this.#files.at(-1);
    return lock !== undefined && whereaboutsOf(lock) === undefined;
  }

  /** Marks the database as this process's. An older copy of the database has another mark. */
  stamp(): void {
    setStamp(this.#db, this.#stamp);
  }

  /** True once a checkpoint has copied the newest stamp to the file. A copy of the file then has that stamp too. */
  get isStampOld(): boolean {
    return this.#newestStamp() === this.#stampInFile;
  }

  /** Replaces an old stamp. */
  renewStamp(): void {
    if (!this.isStampOld) return;
    this.#stamp = nextStamp(this.#stamp);
    this.stamp();
  }

  /** Calls `listener` with each new problem, and with `undefined` once the files are in order again. */
  onChange(listener: (problem: FileProblem | undefined) => void): void {
    this.#onChange = listener;
  }

  /**
   * Checks the paths. Takes a few microseconds.
   *
   * @throws {ServiceBotError} STORE_UNAVAILABLE
   */
  check(): void {
    const problem = this.#overwritten ?? this.#findMoved();
    if (problem?.text !== this.#problem?.text) {
      this.#problem = problem;
      this.#onChange(problem);
    }
    if (problem === undefined) return;
    channels["store-failure"].publish({ bot: this.#bot, reason: "file_lost" });
    throw new ServiceBotError("STORE_UNAVAILABLE", problem.text);
  }

  /**
   * Also checks the contents.
   *
   * @throws {ServiceBotError} STORE_UNAVAILABLE
   */
  examine(): void {
    this.#overwritten ??= this.#findOverwritten();
    this.check();
  }

  #findMoved(): FileProblem | undefined {
    for (const { path, kind, ...id } of this.#files) {
      const what = whereaboutsOf({ path, ...id });
      if (what === undefined) continue;
      const remedy = kind === "beside" ? RESTART : this.isDeleted ? USE_COPY : MOVE_BACK;
      return { kind, path, text: `${path} ${what} while the bot was using it. ${remedy}` };
    }
    return undefined;
  }

  #findOverwritten(): FileProblem | undefined {
    const stamp = readStamp(this.#handle);
    const own: readonly unknown[] = [this.#stamp, this.#stampInFile];
    // A restore with SQLite itself reaches the file only with the next checkpoint.
    if (!own.includes(stamp) || !own.includes(this.#newestStamp())) {
      return overwritten(this.#path, "overwritten");
    }
    this.#stampInFile = stamp;
    // A checkpoint by another process may truncate the WAL between two reads.
    const isCut = this.#isWalCut() && this.#isWalCut();
    return isCut ? overwritten(`${this.#path}-wal`, "truncated") : undefined;
  }

  /** Returns the stamp in the WAL, or in the file if the WAL has none. */
  #newestStamp(): unknown {
    return this.#db.pragma("application_id", { simple: true });
  }

  #isWalCut(): boolean {
    const bytes = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size;
    // NOOP only reads the number of frames.
    const [wal] = this.#db.pragma("wal_checkpoint(NOOP)") as { readonly log: number }[];
    const frames = Math.max(0, wal?.log ?? 0);
    const needed = frames === 0 ? 0 : WAL_HEADER + frames * (FRAME_HEADER + this.#pageBytes);
    return bytes !== undefined && bytes < needed;
  }
}

function identify(path: string, kind: WatchedFile["kind"]): WatchedFile {
  const { dev: device, ino: inode } = statSync(path, { bigint: true });
  return { path, kind, device, inode };
}

/** Returns what happened to a file, or `undefined` if it is at its path. */
function whereaboutsOf({ path, device, inode }: Omit<WatchedFile, "kind">): string | undefined {
  try {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (now === undefined) return "was removed or moved";
    return now.ino === inode && now.dev === device ? undefined : "was replaced by another file";
  } catch (error) {
    return `became inaccessible (${messageOf(error)})`;
  }
}

function overwritten(path: string, what: string): FileProblem {
  const text = `${path} was ${what} by another program while the bot was using it. ${RESTORE}`;
  return { kind: "overwritten", path, text };
}
