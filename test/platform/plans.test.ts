import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { startPlatform } from "../../src/platform/index.ts";
import { openDatabase } from "../../src/platform/store/database.ts";
import { planOf, recordStatements, scansOf } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act, deliveryOf, ids, request, tokenWith } from "./support/platform.ts";
import { runReceiver } from "./support/receiver.ts";

/** The log may hold a million events: the statements are those that really run, the plans are SQLite's. */
interface Ran {
  readonly db: Database;
  readonly events: readonly string[];
  readonly pages: readonly string[];
}

async function run(): Promise<Ran> {
  const stateFile = join(temporaryFolder(), "state.db");
  const platform = await startPlatform({ stateFile });
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const tokens = [platform.apiKey, tokenWith(platform, "dm"), tokenWith(platform, "read")];
  const happened = recordStatements();
  for (const type of ["dm.message", "comment", "mention", "like", "follow"] as const) {
    const [id = ""] = ids(act(platform, type));
    await deliveryOf(platform, id);
  }
  const events = [...happened];
  const paged = recordStatements();
  for (const token of tokens) {
    await request(platform, "GET", "/api/v1/events?since=evt_000000000001", { token });
    await request(platform, "GET", "/api/v1/events?since=", { token });
  }
  const pages = [...paged];
  await platform.stop();
  const db = openDatabase(stateFile);
  onTestFinished(() => void db.close());
  return { db, events, pages };
}

/** The bot that is meant where none is named is the first row of the table, so that its scan ends there. */
const FIRST_BOT = /is_bot = 1 ORDER BY seq LIMIT 1/;

test("nothing that is asked for each event or page scans a table, or sorts one", async () => {
  const { db, events, pages } = await run();
  expect(events.length).toBeGreaterThan(15);
  for (const sql of [...events, ...pages]) {
    if (FIRST_BOT.test(sql)) continue;
    const plan = planOf(db, sql);
    expect([...scansOf(plan), ...plan.filter((step) => step.includes("TEMP B-TREE"))], sql).toEqual(
      [],
    );
  }
});

test("a page of the log begins in an index of just what its reader may see", async () => {
  const { db, pages } = await run();
  const plans = pages
    .filter((sql) => /FROM event\b.*\brecipient = .*\bLIMIT\b/s.test(sql))
    .map((sql) => planOf(db, sql).find((step) => step.startsWith("SEARCH event ")));
  expect(plans.sort()).toEqual([
    expect.stringMatching(/\(recipient=\? AND (rowid|seq)>\?\)$/),
    expect.stringMatching(/\(recipient=\? AND <expr>=\? AND (rowid|seq)>\?\)$/),
  ]);
});

test("a statement that runs for each event, and joins, is compiled once", async () => {
  const { events } = await run();
  const joins = events.filter((sql) => /\bJOIN\b/.test(sql));
  expect(joins.length).toBeGreaterThan(3);
  for (const sql of joins) {
    // SQLite's planner looks at the value of a bare parameter, and plans anew for the next one.
    expect(sql).not.toMatch(/(=|<|>) *[?@]/);
    expect(sql).toMatch(/(=|<|>) *\+[?@]/);
  }
});
