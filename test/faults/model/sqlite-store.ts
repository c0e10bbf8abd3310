import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import type { OpenStore } from "./world.ts";

/** In memory where the system has such a folder: what a disk keeps is not what is compared here. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** The inbox in a SQLite file of its own. */
export const openSqliteStore: OpenStore = async (options) => {
  const folder = mkdtempSync(join(FOLDER, "service-bot-model-"));
  const file = join(folder, "bot.db");
  let inbox = new SqliteInbox({ file, ...options });
  return {
    get inbox() {
      return inbox;
    },
    async reopen() {
      await inbox.close();
      inbox = new SqliteInbox({ file, ...options });
    },
    async strand(lane) {
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
