import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { tables } from "../faces/inbox-copy.ts";
import { openFile, SqliteInbox, selectAll } from "../faces/inbox-sqlite.ts";
import { messages } from "../support/inbox-events.ts";
import { planOf, scansOf, watchStatements } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * What is asked for each event must not look at every lane or event there is: there may be a million.
 * The statements are those that really run; SQLite says how it would go about them.
 */
async function statementsOfOneEvent(file: string): Promise<readonly string[]> {
  const inbox = new SqliteInbox({ file });
  onTestFinished(() => inbox.close());
  const statements = watchStatements();
  await inbox.put(messages("1", "2"), "webhook");
  await inbox.nextReadyIn();
  const [first] = await inbox.claim(1, 30_000);
  if (first === undefined) throw new Error("two events wait");
  const { next: claim } = await inbox.advance(first);
  if (claim === undefined) throw new Error("one event is left");
  await inbox.extend([claim], 30_000);
  await inbox.beginStep(claim, "s", "");
  await inbox.finishStep(claim, "s", "1", "m_1");
  await inbox.claimedRefs(["m_1"]);
  await inbox.complete(claim);
  return statements();
}

test("a copy reads the lanes in the order of their keys, and sorts none of them", () => {
  const { db, close } = openFile(":memory:");
  onTestFinished(close);
  const lane = tables.filter(({ name }) => name === "lane");
  const plans = lane.map((table) => planOf(db, selectAll(table)));
  expect(plans).toEqual([expect.arrayContaining(["MERGE (UNION ALL)"])]);
  expect(plans.flat().filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
});

test("nothing that is asked for each event scans a table", async () => {
  const file = join(temporaryFolder(), "bot.db");
  openFile(file).close();
  const statements = await statementsOfOneEvent(file);
  expect(statements.length).toBeGreaterThan(8);
  const db = new Sqlite(file, { readonly: true });
  onTestFinished(() => void db.close());
  for (const sql of statements) expect(scansOf(db, sql), sql).toEqual([]);
});
