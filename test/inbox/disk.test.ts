import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../faces/testing.ts";
import { messages } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MB = 1024 * 1024;

function onDisk(free: () => number) {
  const clock = new ManualClock(1_800_000_000_000);
  const file = join(temporaryFolder(), "bot.db");
  const inbox = openSqlite({ file, clock, freeBytes: free });
  return { clock, inbox };
}

describe("a disk that is nearly full", () => {
  test("rejects new events and reports the free space, and recovers without a restart", async () => {
    let free = 64 * MB;
    const { clock, inbox } = onDisk(() => free);
    await inbox.put(messages("1"), "webhook");
    free -= 1;
    await clock.advance(1_000);
    await expect(inbox.put(messages("2"), "webhook")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("63 MB free"),
    });
    free += 1;
    await clock.advance(1_000);
    expect(await inbox.put(messages("2"), "webhook")).toMatchObject({ stored: ["2"] });
  });

  test("still takes the outcome of what is under way", async () => {
    let free = Number.POSITIVE_INFINITY;
    const { clock, inbox } = onDisk(() => free);
    await inbox.put(messages("1"), "webhook");
    free = 0;
    await clock.advance(1_000);
    const [claim] = await inbox.claim(1, 30_000);
    if (claim === undefined) throw new Error("one event waits");
    await inbox.beginStep(claim, "s", "");
    expect(await inbox.complete(claim)).toBe(true);
  });

  test("is read at most once a second, even if the clock is set back", async () => {
    let asked = 0;
    const { clock, inbox } = onDisk(() => {
      asked += 1;
      return MB * 1_000;
    });
    for (let id = 0; id < 10; id++) await inbox.put(messages(String(id)), "webhook");
    expect(asked).toBe(1);
    await clock.advance(1_000);
    await inbox.put(messages("11"), "webhook");
    expect(asked).toBe(2);
  });

  test("accepts writes if its free space is unknown", async () => {
    const { inbox } = onDisk(() => {
      throw new Error("not supported");
    });
    expect(await inbox.put(messages("1"), "webhook")).toMatchObject({ stored: ["1"] });
  });
});
