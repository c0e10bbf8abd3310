import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { copyAsKilled } from "../../support/killed-copy.ts";
import type { OpenStore } from "./world.ts";

/** Uses a folder in memory if the system has one, because this test does not examine durability. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

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
      // Copy the files while the inbox is open, as a killed process would leave them. A clean close would write more.
      copyAsKilled(file, left);
      await inbox.close();
      file = left;
      inbox = new SqliteInbox({ file, ...options });
    },
    async strand(lane) {
      // Healing writes the buffered lane, which would otherwise not be written until its next claim.
      await inbox.heal();
      const db = new Sqlite(file);
      db.prepare("UPDATE lane SET ready_at = NULL WHERE key = ?").run(lane);
      db.close();
    },
    async close() {
      await inbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
