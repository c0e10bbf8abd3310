import { statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../faces/inbox.ts";
import { message } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MIB = 2 ** 20;
const LIMIT = 64 * MIB;

function large(number: number): NewEvent {
  const event = message(`evt_${String(number).padStart(12, "0")}`, `c${number}`);
  return { ...event, body: JSON.stringify({ ...JSON.parse(event.body), more: "x".repeat(MIB) }) };
}

test("a WAL that grew while a reader pinned it is cut back to 64 MiB once the reader is gone", {
  timeout: 60_000,
}, async () => {
  const file = join(temporaryFolder(), "bot.db");
  const inbox = openSqlite({ file });
  const size = () => statSync(`${file}-wal`).size;
  let number = 0;
  const put = () => inbox.put([large(++number)], "webhook");

  const reader = new Sqlite(file, { readonly: true });
  onTestFinished(() => void reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM sqlite_schema").get();
  while (number < 80) await put();
  expect(size()).toBeGreaterThan(80 * MIB);

  reader.exec("COMMIT");
  // The first write checkpoints the WAL, and the second restarts it.
  await put();
  await put();
  expect(size()).toBe(LIMIT);
});
