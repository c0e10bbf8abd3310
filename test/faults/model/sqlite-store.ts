import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { copyAsKilled } from "../../support/killed-copy.ts";
import { MEMORY_FOLDER } from "../../support/memory-folder.ts";
import { lookInto } from "../../support/sqlite.ts";
import type { OpenStore } from "./trial.ts";

export const openSqliteStore: OpenStore = async (options) => {
  const folder = mkdtempSync(join(MEMORY_FOLDER, "service-bot-model-"));
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
      const idle = "UPDATE lane SET ready_at = NULL WHERE key = ?";
      lookInto(file, (db) => db.prepare(idle).run(lane));
    },
    async close() {
      await inbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
