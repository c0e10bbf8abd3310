import { systemClock } from "../../src/core/clock.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { Child } from "../harness/child.ts";
import { makeFolder } from "./folder.ts";
import { copyHistory, type History, lanesOf } from "./history.ts";
import { makeEvents, type QueueProcess } from "./queue.ts";
import { perSecond } from "./rate.ts";

/** Active conversations, spread evenly over the history's conversations. */
const CONVERSATIONS = 4_000;

/** Deliveries that arrive together. Each has one event, and all of them share a commit. */
const TOGETHER = 64;

const CONCURRENCY = 1_000;

/** A file that has grown by less than this share counts as unchanged. */
const GROWTH = 0.1;

const HOUR = 3_600_000;

/** Retention so long that nothing is deleted. */
const KEEP = { bodiesMs: 1e15, idsMs: 1e15, deadLettersMs: 1e15 };

/** Rates in events per second. */
export interface Rates {
  readonly ingest: number;
  readonly dispatch: number;
}

export class StoredInboxes {
  readonly #folder = makeFolder();
  readonly #processes: Child<QueueProcess>[] = [];

  /**
   * @param done events in the file
   * @returns a function that stores and handles `count` events. Each run finds the history almost unchanged, because
   * its lanes are idle.
   */
  add(done: number): (count: number) => Promise<Rates> {
    const history: History = { done, pending: 0 };
    const step = Math.max(1, Math.floor(lanesOf(history) / CONVERSATIONS));
    const process = new Child<QueueProcess>("processes/queue.ts", { side: "measured" });
    this.#processes.push(process);
    const file = this.#folder.file(`${done}.db`);
    let grown = Number.POSITIVE_INFINITY;
    return async (count) => {
      if (grown + count > done * GROWTH) {
        copyHistory(history, file);
        grown = 0;
      }
      grown += count;
      await rest(file);
      await process.call("open", { url: `file:${file}`, schema: "" });
      const events = makeEvents(count, CONVERSATIONS, step);
      const ingest = await process.call("ingestTogether", events, TOGETHER);
      const dispatch = await process.call("drain", count, CONCURRENCY);
      await process.call("close");
      return { ingest: perSecond(count, ingest.ms), dispatch: perSecond(count, dispatch.ms) };
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    this.#folder.remove();
  }
}

/** Runs the sweeps that the inbox would do later, by setting its clock one hour ahead. */
async function rest(file: string): Promise<void> {
  const clock = { ...systemClock, now: () => systemClock.now() + HOUR };
  const inbox = new SqliteInbox({ file, clock });
  while (await inbox.sweep(KEEP));
  await inbox.close();
}
