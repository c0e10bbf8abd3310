import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { addBot, openDatabase, Store, seed } from "../faces/platform.ts";
import { planOf, scansOf, watchStatements } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Returns the statements that run for each event and each page. They must be fast, because a log may hold a million
 * events for many bots.
 */
function useLog(store: Store, bot: number): readonly string[] {
  const statements = watchStatements();
  store.webhook.put(bot, { ...store.webhook.get(bot), url: "https://example.org/", enabled: true });
  const logged = store.events.append(bot, { type: "poke", payload: {} }, 0);
  store.webhook.enqueue(logged);
  expect(store.events.pending(bot, 50)).toEqual([logged]);
  store.webhook.prune(bot);
  store.webhook.dequeue([logged]);
  store.events.find(logged.seq);
  store.events.lastSeq(bot);
  store.events.presentSeq(bot);
  for (const visible of [
    { dms: true, others: true },
    { dms: false, others: true },
    { dms: true, others: false },
  ]) {
    store.events.page(bot, 0, visible, 50);
  }
  return statements();
}

test("no log page and no delivery scans earlier events or other bots' events", () => {
  const file = join(temporaryFolder(), "state.db");
  const store = new Store(openDatabase(file));
  seed(store, { now: 0 });
  const statements = useLog(store, addBot(store, "other").seq);
  store.close();
  expect(statements.length).toBeGreaterThan(8);
  const db = new Sqlite(file, { readonly: true });
  onTestFinished(() => void db.close());
  for (const sql of statements) {
    // Late events are few, so scanning them is allowed.
    expect(
      scansOf(db, sql).filter((scan) => scan !== "SCAN late"),
      sql,
    ).toEqual([]);
  }
  const pages = statements.filter((sql) => sql.includes("@after"));
  expect(pages).toHaveLength(2);
  // The search does not read all of the bot's events.
  const present = statements.filter((sql) => sql.includes("late.event FROM"));
  expect(present.flatMap((sql) => planOf(db, sql)).filter((step) => / e /.test(step))).toEqual([
    "SEARCH e USING COVERING INDEX event_of_recipient (recipient=? AND seq=? AND rowid=?)",
  ]);
  // The query searches the index by kind and position, and the index provides the order.
  expect(pages.map((sql) => planOf(db, sql)[0])).toEqual([
    "SEARCH event USING INDEX event_of_recipient (recipient=? AND seq>?)",
    "SEARCH event USING INDEX event_of_recipient_and_kind (recipient=? AND <expr>=? AND seq>?)",
  ]);
});
