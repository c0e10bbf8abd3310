export { attachInbox } from "../../src/inbox/sqlite/attach.ts";
export { backUpFile } from "../../src/inbox/sqlite/backup.ts";
export { CopySource, selectAll } from "../../src/inbox/sqlite/copy.ts";
export { GroupCommit } from "../../src/inbox/sqlite/group-commit.ts";
export { healthOfFile, networkOf } from "../../src/inbox/sqlite/health.ts";
export { lockOf, openFile, takeLock } from "../../src/inbox/sqlite/open.ts";
export { markFile, restoreFile } from "../../src/inbox/sqlite/restore.ts";
export { EVERY_LANE } from "../../src/inbox/sqlite/retention.ts";
export { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
