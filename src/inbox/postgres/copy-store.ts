import { ServiceBotError } from "../../errors.ts";
import type { CopyStore } from "../copy/stores.ts";
import { processes } from "./attach.ts";
import { placeOf } from "./copy-mark.ts";
import { CopyRows } from "./copy-rows.ts";
import type { Database } from "./database.ts";
import { type OpenOptions, openDatabase } from "./open.ts";
import { ALIVE_MS } from "./shared/instances.ts";

/** A batch of long events, or the planner's figures of a large table, may take its time. */
const TIMEOUT_MS = 120_000;

/** What is under way is known to this store in a way of its own, so nothing of it is copied. */
const UNDER_WAY = "SELECT count(*) AS n FROM {schema}.lane WHERE owner IS NOT NULL";

/** An inbox in PostgreSQL, as far as both sides of a copy need it. */
export interface Opened {
  readonly database: Database;
  readonly rows: CopyRows;
  readonly store: CopyStore;
}

/** @throws {ServiceBotError} DRIVER_MISSING, INBOX_UNUSABLE */
export async function openForCopy(options: OpenOptions): Promise<Opened> {
  const database = await openDatabase({ timeoutMs: TIMEOUT_MS, ...options });
  const rows = new CopyRows(database);
  const store: CopyStore = {
    place: placeOf(options.url, options.schema),
    async now() {
      const [row] = await database.rows<{ readonly now: number }>("SELECT {now} AS now");
      return row?.now ?? Date.now();
    },
    count: (table) => rows.count(table),
    read: (table) => rows.read(table),
    close: () => database.close(),
  };
  return { database, rows, store };
}

/** @throws {ServiceBotError} INBOX_IN_USE when bots use it */
export async function refuseServed({ database, store: { place } }: Opened): Promise<void> {
  const n = await processes(database);
  if (n > 0) {
    throw new ServiceBotError(
      "INBOX_IN_USE",
      `${place} is used by ${n === 1 ? "a bot" : `${n} instances of a bot`}. Stop ` +
        `${n === 1 ? "it" : "them"} first: what happens meanwhile would be missing from the copy. One that was ` +
        `killed counts for ${ALIVE_MS / 1_000} s.`,
    );
  }
  const [underWay] = await database.rows<{ readonly n: number }>(UNDER_WAY);
  if ((underWay?.n ?? 0) === 0) return;
  throw new ServiceBotError(
    "INBOX_IN_USE",
    `${place} has events of which a run has not ended. Stop every instance of the bot; where one was killed, ` +
      "start the bot once more, wait until the lease of that run is over (half a minute), and stop it.",
  );
}
