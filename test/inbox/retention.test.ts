import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Retention } from "../faces/inbox.ts";
import type { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DAY = 86_400_000;
const KEEP: Retention = { bodiesMs: 7 * DAY, idsMs: 30 * DAY, deadLettersMs: 90 * DAY };

function open(file: string): { clock: ManualClock; inbox: SqliteInbox } {
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = openSqlite({ file, clock });
  return { clock, inbox };
}

/** Stores and completes events with large bodies, each on its own lane. */
async function live(inbox: SqliteInbox, ids: readonly string[]): Promise<void> {
  const events = ids.map((id) => message(id, `c${id}`));
  const body = (text: string) => JSON.stringify({ ...JSON.parse(text), filler: "x".repeat(2_000) });
  await inbox.put(
    events.map((event) => ({ ...event, body: body(event.body) })),
    "webhook",
  );
  const claims = await inbox.claim(ids.length, 30_000);
  await Promise.all(
    claims.map(async (claim) => {
      await inbox.beginStep(claim, "reply/1", "hello");
      await inbox.finishStep(claim, "reply/1", "{}");
      await inbox.complete(claim);
    }),
  );
}

/** Sweeps until nothing is left to do. Resolves to the number of batches. */
async function sweep(inbox: SqliteInbox): Promise<number> {
  let batches = 1;
  while (await inbox.sweep(KEEP)) batches += 1;
  return batches;
}

describe("the size of the file", () => {
  test("reaches a plateau: after the first month it grows no more", async () => {
    const file = join(temporaryFolder(), "bot.db");
    const { clock, inbox } = open(file);
    const sizes: number[] = [];
    for (let day = 0; day < 60; day++) {
      await live(
        inbox,
        Array.from({ length: 20 }, (_, i) => String(day * 20 + i)),
      );
      await clock.advance(DAY);
      await sweep(inbox);
      sizes.push(statSync(file).size);
    }
    const at = (day: number) => sizes[day] ?? 0;
    expect(at(10)).toBeGreaterThan(0);
    expect(at(59)).toBeLessThan(at(35) * 1.25);
    // Without sweeps, each of these events would keep its own page.
    expect(at(59)).toBeLessThan(60 * 20 * 4_096 * 0.7);
  });

  test("shrinks a few pages at a time after a flood", async () => {
    const file = join(temporaryFolder(), "bot.db");
    const { clock, inbox } = open(file);
    for (let i = 0; i < 5; i++) {
      await live(
        inbox,
        Array.from({ length: 500 }, (_, n) => String(i * 500 + n)),
      );
    }
    await sweep(inbox);
    const flooded = statSync(file).size;
    await clock.advance(31 * DAY);
    expect(await sweep(inbox)).toBeGreaterThan(10);
    // SQLite gives free pages back when it writes the WAL into the file.
    await inbox.close();
    expect(statSync(file).size).toBeLessThan(flooded * 0.6);
  });
});

test("a sweep looks at a bounded number of events at a time, and comes to its end", async () => {
  const { clock, inbox } = open(":memory:");
  for (let i = 0; i < 4; i++) {
    await live(
      inbox,
      Array.from({ length: 400 }, (_, n) => String(i * 400 + n)),
    );
  }
  await clock.advance(8 * DAY);
  // 1,600 events in batches of 500, 1,600 lanes in batches of 100, the resting lanes in batches of 500, and a check for
  // free pages.
  expect(await sweep(inbox)).toBeGreaterThanOrEqual(4 + 16 + 4 + 1);
});

test("lanes in which nothing has happened for long are forgotten, and work as new ones afterwards", async () => {
  const { clock, inbox } = open(":memory:");
  await live(inbox, ["1", "3"]);
  await clock.advance(29 * DAY);
  await sweep(inbox);
  await inbox.put([message("4", "c3")], "webhook");
  const claim = first(await inbox.claim(1, 1_000));
  expect(claim).toMatchObject({ id: "4" });
  await inbox.complete(claim);
  await clock.advance(2 * DAY);
  await sweep(inbox);
  await inbox.put([message("2", "c1")], "webhook");
  // Before the lane was forgotten, the event would have been late.
  expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "2", late: false }]);
});
