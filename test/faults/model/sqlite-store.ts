import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";
import type { OpenStore } from "./world.ts";

/** In memory where the system has such a folder: what a disk keeps is not what is compared here. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The inbox in a SQLite file of its own. */
export const openSqliteStore: OpenStore = async (options) => {
  const folder = mkdtempSync(join(FOLDER, "service-bot-model-"));
  let lives = 1;
  let file = join(folder, "bot.db");
  let inbox = new SqliteInbox({ file, ...options });
  return {
    get inbox() {
      return inbox;
    },
    async reopen() {
      lives += 1;
      const left = join(folder, `bot-${lives}.db`);
      // As a process leaves it that is killed: what a close would still write is not in it.
      for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, `${left}${end}`);
      await inbox.close();
      file = left;
      inbox = new SqliteInbox({ file, ...options });
    },
    async strand(lane) {
      // Writes the lane, which waits for its claim otherwise.
      await inbox.heal();
      const db = new Sqlite(file);
      db.prepare("UPDATE lane SET ready_at = NULL, pending = 0 WHERE key = ?").run(lane);
      db.close();
    },
    async close() {
      await inbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
