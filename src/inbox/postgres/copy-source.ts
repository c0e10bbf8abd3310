import { randomUUID } from "node:crypto";
import type { CopySource } from "../copy/stores.ts";
import { requireInbox } from "./attach.ts";
import { clearMark, readMark, setMark } from "./copy-mark.ts";
import { openForCopy, refuseServed } from "./copy-store.ts";
import type { OpenOptions } from "./open.ts";

/**
 * Opens an inbox in PostgreSQL to copy it.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, INBOX_MISSING, INBOX_TOO_OLD, INBOX_TOO_NEW, INBOX_UNFINISHED,
 *   INBOX_UNUSABLE
 */
export async function openPostgresSource(options: OpenOptions): Promise<CopySource> {
  const opened = await openForCopy(options);
  const { database, store } = opened;
  const run = randomUUID();
  const mark = (to: string) =>
    database.transaction((queries) => setMark(queries, { role: "source", other: to, run }));
  // Of another run that goes on with the same copy the mark stays.
  const release = () =>
    database.transaction(async (queries) => {
      if ((await readMark(queries))?.run === run) await clearMark(queries);
    });
  await requireInbox(database, options.url);
  return {
    ...store,
    async movedTo() {
      const found = await readMark(database);
      return found?.role === "source" ? found.other : undefined;
    },
    async hold(to) {
      // A bot that runs must not see a mark: it would stop.
      await refuseServed(opened);
      await mark(to);
      // Looked at again: a bot that starts in between is seen, or sees the mark.
      try {
        await refuseServed(opened);
      } catch (error) {
        await release();
        throw error;
      }
    },
    leave: mark,
    release,
    async reopen() {
      const marked = (await readMark(database)) !== undefined;
      await database.transaction(clearMark);
      return marked;
    },
  };
}
