import Sqlite from "better-sqlite3";
import { type Claim, fromStored } from "../../faces/inbox.ts";
import { EVERY_LANE, SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { keeps, timer } from "../../support/effects.ts";
import { message } from "../../support/inbox-events.ts";

const LEASE = 60_000;

const TRACE = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** Text with characters that the stores cannot keep as they are. */
export const ODD = "a\0b\u001ac\u{1f600}d\ud800e";

/**
 * Creates an inbox with every kind of row. "done" has a step, a state and timers. "dead" failed inside a step.
 * "crashed" has an unfinished run. "waits" waits for a retry, with "behind" after it in its lane. "odd" has a history
 * with special characters. "discarded" was discarded, and one dead letter was recorded at intake.
 */
export async function fillInbox(file: string): Promise<void> {
  const inbox = new SqliteInbox({ file });
  const cursors = [{ name: "events", position: "evt_0777" }];
  await inbox.put([message("done", "a"), message("dead", "b"), message("discarded", "c")], "poll");
  await inbox.put([message("waits", "d"), message("crashed", "e")], "webhook", cursors, TRACE);
  await inbox.put([{ ...message("odd", "f"), lane: `own:${ODD}` }], "webhook");
  await inbox.put([{ ...message("bad", "g"), unusable: "no payload" }], "poll");
  const claims = new Map((await inbox.claim(10, LEASE)).map((claim) => [claim.id, claim]));
  const claimOf = (id: string): Claim => {
    const claim = claims.get(id);
    if (claim === undefined) throw new Error(`${id} was not claimed`);
    return claim;
  };
  await inbox.beginStep(claimOf("done"), "step/reply", "hi");
  await inbox.finishStep(claimOf("done"), "step/reply", '{"id":"m_1"}', "m_1");
  const timers = [timer(ODD, 3_600_000), timer("later", 3_600_000, { name: "other" })];
  await inbox.complete(claimOf("done"), { ...keeps("dm:a", { text: ODD }), timers });
  await inbox.beginStep(claimOf("dead"), "step/pay", '{"amount":100}');
  await inbox.bury(claimOf("dead"), "TypeError: boom");
  await inbox.bury(claimOf("discarded"), "x");
  await inbox.admin.discard("discarded", "spam");
  await inbox.retry(claimOf("waits"), 3_600_000, "later");
  await inbox.put([message("waits-behind", "d")], "webhook");
  await inbox.beginStep(claimOf("crashed"), "step/reply", "hello");
  await inbox.retry(claimOf("odd"), 0, `error ${ODD}`);
  await inbox.close();
}

/**
 * Returns a file's rows by table, including resting lanes, with texts as they were before they were stored. Leaves out
 * the column with the claimed event, because a claim ends with its process.
 */
export function rowsOf(file: string): Record<string, unknown[]> {
  const db = new Sqlite(file, { readonly: true });
  const names = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'resting_lane' ORDER BY name",
    )
    .pluck()
    .all()
    .map(String);
  const columns = db
    .prepare("SELECT group_concat(name) FROM pragma_table_info(?) WHERE name <> 'claimed'")
    .pluck();
  const rows = names.map((name) => [
    name,
    db
      .prepare<[], Record<string, unknown>>(
        `SELECT ${columns.get(name)} FROM ${name === "lane" ? EVERY_LANE : name} ORDER BY 1`,
      )
      .all()
      .map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            typeof value === "string" ? fromStored(value) : value,
          ]),
        ),
      ),
  ]);
  db.close();
  return Object.fromEntries(rows);
}
