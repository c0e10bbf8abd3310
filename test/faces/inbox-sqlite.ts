export { backUpFile } from "../../src/inbox/sqlite/backup.ts";
export { CopySource, selectAll } from "../../src/inbox/sqlite/copy.ts";
export { GroupCommit } from "../../src/inbox/sqlite/group-commit.ts";
export { lockOf, takeLock } from "../../src/inbox/sqlite/lock.ts";
export {
  attachInbox,
  ephemeralDiskOf,
  healthOfFile,
  networkOf,
} from "../../src/inbox/sqlite/maintenance.ts";
export { openFile } from "../../src/inbox/sqlite/open.ts";
export { markFile, restoreFile } from "../../src/inbox/sqlite/restore.ts";
export { EVERY_LANE } from "../../src/inbox/sqlite/retention.ts";
export { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
export { WalSync } from "../../src/inbox/sqlite/wal-sync.ts";
