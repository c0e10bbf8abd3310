import { describe, expect, test } from "vitest";
import { message } from "../support/inbox-events.ts";
import { harness } from "./harness.ts";

const DAY = 86_400_000;

describe("upkeep", () => {
  test("what is older than it need be is swept out, batch after batch", async () => {
    const { inbox, dispatcher, clock } = harness(() => undefined, {
      retention: { bodiesMs: DAY, idsMs: 2 * DAY, deadLettersMs: DAY },
    });
    await inbox.put([message("1")], "webhook");
    await dispatcher.idle();
    let batches = 0;
    const sweep = inbox.sweep.bind(inbox);
    inbox.sweep = (keep) => {
      batches += 1;
      return sweep(keep);
    };
    await clock.advance(599_999);
    expect(batches).toBe(0);
    // The first sweep, with its pauses: five phases, and a last batch that finds nothing.
    await clock.advance(1);
    await clock.advance(1_000);
    expect(batches).toBe(6);
    expect((await inbox.stats()).done).toBe(1);
  });

  test("a failure of it is logged, and it goes on the next time", async () => {
    const { inbox, clock, log } = harness(() => undefined);
    let calls = 0;
    inbox.heal = () => {
      calls += 1;
      return Promise.reject(new Error("disk full"));
    };
    await clock.advance(60_000);
    await clock.advance(60_000);
    expect(calls).toBe(2);
    const line = { level: "error", err: { message: "disk full" } };
    expect(log.records).toMatchObject([line, line]);
  });
});
