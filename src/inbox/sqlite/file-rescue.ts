import { mkdirSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import type { InboxProblem } from "../inbox.ts";
import { timestamp } from "./exchange.ts";
import type { FileProblem, FileWatch } from "./file-watch.ts";
import { identityOf, SAVED, writeHolder } from "./holder.ts";
import { MIN_FREE_BYTES } from "./intake.ts";
import { syncFolder } from "./lock.ts";
import { placeFile } from "./place-file.ts";

export interface FileRescueOptions {
  readonly db: Database;
  /** Path of the database, without symbolic links. */
  readonly path: string;
  readonly watch: FileWatch;
  /** The bot named in channel messages. */
  readonly bot: object | undefined;
}

/**
 * Reacts to lost files of an inbox. Records the problem for other processes, and saves the events that only this
 * process can still read.
 */
export class FileRescue {
  readonly #options: FileRescueOptions;
  /** Identities of the files when the inbox was opened. */
  readonly #identities: { readonly database: string | undefined; readonly wal: string | undefined };
  #problem: InboxProblem | undefined;
  #saving: Promise<void> | undefined;
  #saved: string | undefined;

  constructor(options: FileRescueOptions) {
    const { path, watch } = options;
    this.#options = options;
    this.#identities = { database: identityOf(path), wal: identityOf(`${path}-wal`) };
    this.#record(false);
    syncFolder(dirname(path));
    watch.onChange((problem) => this.#react(problem));
  }

  get problem(): InboxProblem | undefined {
    return this.#problem;
  }

  /** Resolves once the events are saved. */
  async close(): Promise<void> {
    await this.#saving;
    this.#record(true);
  }

  #react(problem: FileProblem | undefined): void {
    const { bot, watch } = this.#options;
    this.#problem = problem && { message: problem.text };
    this.#record(false);
    channels["inbox-file"].publish({ bot, problem: problem?.text });
    if (problem === undefined) return;
    if (problem.path.endsWith("-wal")) this.#emptyWal();
    if (watch.isDeleted) this.#saving ??= this.#save();
  }

  /** Moves the commits in a removed WAL to the database, which is still in its place. */
  #emptyWal(): void {
    const { db, path } = this.#options;
    // Another process may have begun a new WAL.
    if (identityOf(`${path}-wal`) !== undefined) return;
    try {
      db.pragma("wal_checkpoint(PASSIVE)");
    } catch {
      // The disk is full or broken. Closing the database tries again.
    }
  }

  /** Copies a deleted database, whose contents disappear with this process. */
  async #save(): Promise<void> {
    const { db, path, bot } = this.#options;
    const to = `${path}${SAVED}${timestamp()}`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      refuseWithoutRoom(db, dirname(path));
      await placeFile(to, (draft) => db.backup(draft));
      this.#saved = identityOf(to);
      this.#record(false);
      channels["inbox-file"].publish({ bot, problem: this.#problem?.message, savedTo: to });
    } catch (error) {
      channels["inbox-file"].publish({ bot, problem: this.#problem?.message, error });
    }
  }

  /** Writes the record of this process, unless another process may have the folder. */
  #record(isClosed: boolean): void {
    const { path, watch } = this.#options;
    if (!watch.hasLock) return;
    // Another file may get the inode of a deleted one.
    const database = watch.isDeleted ? undefined : this.#identities.database;
    const problem = watch.problem?.text;
    const isOverwritten = watch.problem?.kind === "overwritten";
    try {
      writeHolder(path, {
        ...this.#identities,
        database,
        stamps: watch.stamps,
        problem,
        isOverwritten,
        saved: this.#saved,
        isClosed,
      });
    } catch {
      // The disk is full. The record of the start stays.
    }
  }
}

/** @throws {ServiceBotError} STORE_UNAVAILABLE */
function refuseWithoutRoom(db: Database, folder: string): void {
  const pages = Number(db.pragma("page_count", { simple: true }));
  const bytes = pages * Number(db.pragma("page_size", { simple: true }));
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize - bytes >= MIN_FREE_BYTES) return;
  throw new ServiceBotError(
    "STORE_UNAVAILABLE",
    `The disk of ${folder} has no room for the ${bytes} bytes of the inbox.`,
  );
}
