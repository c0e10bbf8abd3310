import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase, startPlatform } from "../faces/platform.ts";
import { scansOf, watchRuns, watchStatements } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act, deliveryOf, ids, request, runPlatform } from "./support/platform.ts";
import { runReceiver } from "./support/receiver.ts";

async function statementsOfActs(): Promise<{ statements: readonly string[]; db: Database }> {
  const stateFile = join(temporaryFolder(), "state.db");
  const platform = await startPlatform({ stateFile });
  const receiver = await runReceiver();
  platform.control.saveWebhook({ url: receiver.url });
  const ran = watchStatements();
  for (const type of ["dm.message", "comment", "mention", "like", "follow"] as const) {
    const [id = ""] = ids(act(platform, type));
    await deliveryOf(platform, id);
  }
  const statements = ran();
  expect(statements.length).toBeGreaterThan(15);
  await platform.stop();
  const db = openDatabase(stateFile);
  onTestFinished(() => void db.close());
  return { statements, db };
}

/** The default bot is the first row in its table, so this scan ends there. */
const FIRST_BOT = /is_bot = 1 ORDER BY seq LIMIT 1/;

test("no action scans the whole history", async () => {
  const { statements, db } = await statementsOfActs();
  for (const sql of statements.filter((one) => !FIRST_BOT.test(one))) {
    expect(scansOf(db, sql), sql).toEqual([]);
  }
});

test("a statement with a join that runs for each event is compiled once", async () => {
  const { statements } = await statementsOfActs();
  const joins = statements.filter((sql) => /\bJOIN\b/.test(sql));
  expect(joins.length).toBeGreaterThan(3);
  for (const sql of joins) {
    // SQLite's planner would inspect the value of a bare parameter, and plan again for the next value.
    expect(sql).not.toMatch(/[=<>] *[?@]/);
    expect(sql).toMatch(/[=<>] *\+[?@]/);
  }
});

test("a request looks its token up once, and again if a token has changed meanwhile", async () => {
  const platform = await runPlatform();
  const ran = watchRuns();
  const lookups = () => ran().filter((sql) => sql.includes("FROM token WHERE api_key")).length;
  const post = () => request(platform, "POST", "/api/v1/posts", { body: { text: "hi" } });
  expect((await post()).status).toBe(201);
  expect(lookups()).toBe(1);
  platform.control.setFaults({ api: { mode: "hold" } });
  const held = post();
  await platform.waitFor("fault", ({ change }) => change === "held");
  platform.control.createToken(["read"]);
  platform.control.setFaults({ api: { mode: "none" } });
  expect((await held).status).toBe(201);
  expect(lookups()).toBe(3);
});
