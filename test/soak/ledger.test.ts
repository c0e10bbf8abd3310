import { expect, test } from "vitest";
import type { TimelineEntry } from "../../src/platform/index.ts";
import type { ApiEntry, TimelineRecord } from "../faces/platform.ts";
import { Ledger } from "./ledger.ts";
import { textOf } from "./texts.ts";

/** A ledger that has followed a timeline of these to its end. */
async function follow(...records: TimelineRecord[]): Promise<Ledger> {
  const entries = records.map((record, nth) => ({ seq: nth + 1, at: "", ...record }));
  return await followEntries(entries);
}

async function followEntries(entries: readonly TimelineEntry[]): Promise<Ledger> {
  const ledger = new Ledger();
  const timeline = async (after: number) => ({
    entries: entries.filter(({ seq }) => seq > after),
    last: entries.length,
  });
  await ledger.follow({ timeline }, AbortSignal.abort());
  return ledger;
}

function written(id: string, text = textOf("plain", 1)): TimelineRecord {
  return { kind: "event", bot: "bot", id, type: "dm.message", from: "ada", text };
}

function said(id: string): ApiEntry {
  return {
    ...{ kind: "api", id: "call_1", method: "POST", path: "/posts/p_1/comments", status: 201 },
    ...{ ms: 1, text: `${id} answered`, created: { commentId: "cm_1" } },
  };
}

test("an event that was answered once is as it should be", async () => {
  const ledger = await follow(written("evt_1"), said("evt_1"));
  expect(ledger.violations()).toEqual([]);
  expect(ledger.isSettled).toBe(true);
  expect(ledger.comments).toEqual(["cm_1"]);
});

test("one that was answered twice, or never, is not", async () => {
  const ledger = await follow(written("evt_1"), said("evt_1"), said("evt_1"), written("evt_2"));
  expect(ledger.violations()).toEqual([
    "evt_1 was answered 2 times, not once",
    "evt_2 was answered 0 times, not once",
  ]);
  expect(ledger.isSettled).toBe(false);
});

test("a hopeless one must have no answer, and one that nobody wrote neither", async () => {
  const ledger = await follow(
    written("evt_1", textOf("hopeless", 1)),
    said("evt_1"),
    said("evt_2"),
  );
  expect(ledger.violations()).toEqual([
    "evt_1 was answered, and should not have been",
    "evt_2 was answered, and should not have been",
  ]);
  expect(ledger.isHopeless("evt_1")).toBe(true);
});

test("what failed made no answer", async () => {
  const { created: _, ...call } = said("evt_1");
  const ledger = await follow(written("evt_1"), { ...call, status: 500, fault: "status" });
  expect(ledger.faulted).toBe(1);
  expect(ledger.violations()).toEqual(["evt_1 was answered 0 times, not once"]);
});

test("a timeline from which something is gone proves nothing", async () => {
  const ledger = await followEntries([{ seq: 3, at: "", ...said("evt_1") }]);
  expect(ledger.violations()).toContain("the timeline is torn after 0");
});
