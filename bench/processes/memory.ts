import { setTimeout as sleep } from "node:timers/promises";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { answer } from "../harness/child.ts";
import { drainInbox } from "../support/drain.ts";

const INTERVAL_MS = 50;

/** After this nothing of what was done is under way any more. */
const REST_MS = 500;

let inbox: SqliteInbox;
let concurrency = 0;

/** What the process has in memory while it drains; in bytes. */
const handlers = {
  /** Resolves to what the process has before it has done anything. */
  open: async (file: string, atOnce: number): Promise<number> => {
    inbox = new SqliteInbox({ file });
    concurrency = atOnce;
    await sleep(REST_MS);
    return process.memoryUsage.rss();
  },
  /** Handles so many events, and resolves to what the process has afterwards. */
  warmUp: async (most: number): Promise<number> => {
    await drainInbox(inbox, { concurrency, most });
    await sleep(REST_MS);
    return process.memoryUsage.rss();
  },
  /** Handles all that is left, and resolves to the most that the process had meanwhile. */
  drain: async (): Promise<number> => {
    let peak = 0;
    const look = () => {
      peak = Math.max(peak, process.memoryUsage.rss());
    };
    const looking = setInterval(look, INTERVAL_MS);
    await drainInbox(inbox, { concurrency });
    clearInterval(looking);
    look();
    return peak;
  },
  close: (): Promise<void> => inbox.close(),
};

export type MemoryProcess = typeof handlers;

answer(handlers);
