import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { messages } from "../support/inbox-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { harness } from "./harness.ts";

test("an idle lane with pending events is found within a minute and handled", async () => {
  const file = join(temporaryFolder(), "bot.db");
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = new SqliteInbox({ file, clock });
  onTestFinished(() => inbox.close());
  await inbox.put(messages("1"), "webhook");
  // Writes the new event's lane, which otherwise the first claim would do.
  await inbox.heal();
  const db = new Sqlite(file);
  db.exec("UPDATE lane SET ready_at = NULL");
  db.close();

  const seen: string[] = [];
  const handled = Promise.withResolvers<void>();
  const { dispatcher, log } = harness(
    (job) => {
      seen.push(job.event.id);
      handled.resolve();
    },
    { inbox, clock },
  );
  await dispatcher.idle();
  await clock.advance(59_999);
  expect(seen).toEqual([]);
  await clock.advance(1);
  await handled.promise;
  await dispatcher.idle();
  expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
  expect(log.records).toContainEqual(expect.objectContaining({ level: "warn", lanes: 1 }));
});
