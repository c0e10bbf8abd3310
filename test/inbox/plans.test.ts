import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { tables } from "../faces/inbox-copy.ts";
import { openFile, selectAll } from "../faces/inbox-sqlite.ts";
import { effects, eventOf, keeps, timer } from "../support/effects.ts";
import { first } from "../support/first.ts";
import { messages } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { planOf, scansOf, watchStatements } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Returns the statements that run for every event. Their query plans must not scan all lanes or events, because there
 * may be a million of each.
 */
async function statementsOfOneEvent(file: string): Promise<readonly string[]> {
  const inbox = openSqlite({ file });
  const statements = watchStatements();
  await inbox.put(messages("1", "2"), "webhook");
  await inbox.nextReadyIn();
  const claimed = first(await inbox.claim(1, 30_000));
  const { next: claim } = await inbox.advance(claimed);
  if (claim === undefined) throw new Error("one event is left");
  await inbox.extend([claim], 30_000);
  await inbox.beginStep(claim, "s", "");
  await inbox.finishStep(claim, "s", "1", "m_1");
  await inbox.claimedRefs(["m_1"]);
  await inbox.provisionalAdoptions(["m_1"]);
  await inbox.complete(claim);
  return statements();
}

async function statementsOfEffects(file: string): Promise<readonly string[]> {
  const inbox = openSqlite({ file });
  await inbox.put(messages("1"), "webhook");
  const statements = watchStatements();
  const claim = first(await inbox.claim(1, 30_000));
  const cancels = [
    { lane: "dm:c1", name: "a" },
    { lane: "dm:c1", name: "a", key: "1" },
  ];
  await inbox.complete(claim, { ...keeps("k", 1), cancels, timers: [timer("a", 0)] });
  const [state] = await inbox.states(["k"]);
  const deleted = { key: "k", value: undefined, version: state?.version };
  await inbox.timers({ lane: "dm:c1", name: "remind" });
  await inbox.fireTimers(10, eventOf);
  const fired = first(await inbox.claim(1, 30_000));
  await inbox.complete(fired, effects({ states: [deleted] }));
  await inbox.admin.states({ prefix: "k" });
  await inbox.admin.timers();
  await inbox.admin.makeTimersDue({ lane: "dm:c1", name: "remind" });
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

test("no statement of an event without effects knows states or timers", async () => {
  const known = /\b(FROM|INTO|UPDATE) (state|timer)\b/;
  const file = join(temporaryFolder(), "bot.db");
  expect((await statementsOfOneEvent(file)).filter((sql) => known.test(sql))).toEqual([]);
  // Positive control: the statements mention the known table.
  const other = join(temporaryFolder(), "bot.db");
  expect((await statementsOfEffects(other)).filter((sql) => known.test(sql))).not.toEqual([]);
});

test.each([
  ["each event", statementsOfOneEvent],
  ["an event with effects, or a timer", statementsOfEffects],
])("no statement for %s scans a table", async (_, statementsOf) => {
  const file = join(temporaryFolder(), "bot.db");
  openFile(file).close();
  const statements = await statementsOf(file);
  expect(statements.length).toBeGreaterThan(8);
  const db = new Sqlite(file, { readonly: true });
  onTestFinished(() => void db.close());
  for (const sql of statements) expect(scansOf(db, sql), sql).toEqual([]);
});
