import { expect, onTestFinished, test } from "vitest";
import type { LogPurpose } from "../faces/client.ts";
import { defaultLane } from "../faces/events.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { Poller } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { FakeLog } from "./fake-log.ts";

function poll(delivery: "auto" | "polling") {
  const clock = new ManualClock(1_800_000_000_000);
  const log = new FakeLog(clock);
  const purposes: (LogPurpose | undefined)[] = [];
  const poller = new Poller({
    inbox: new SqliteInbox({ file: ":memory:", clock }),
    client: {
      events: ({ since } = {}, { purpose } = {}) => {
        purposes.push(purpose);
        return log.events(since === undefined ? {} : { since });
      },
    },
    laneOf: defaultLane,
    startFrom: "now",
    platformClock: { now: () => clock.now() },
    clock,
    log: logSink().log,
    delivery,
    pollIntervalMs: 4_000,
    auditIntervalMs: 60_000,
    silenceMs: 45_000,
    webhookTypes: new Set(["dm.message"]),
    random: () => 0,
  });
  poller.start();
  onTestFinished(() => poller.stop());
  return { clock, log, purposes, poller };
}

test("an audit names its purpose, even in the search for the start position", async () => {
  const { clock, purposes } = poll("auto");
  await clock.advance(120_000);
  expect(purposes).toEqual(["audit", "audit", "audit", "audit"]);
});

test("polling in place of a silent webhook names its purpose after the takeover", async () => {
  const { clock, log, purposes, poller } = poll("auto");
  await clock.advance(1_000);
  log.add("1");
  await clock.advance(120_000);
  expect(poller.mode).toBe("polling");
  const first = purposes.indexOf("poll");
  expect(first).toBeGreaterThan(1);
  expect(new Set(purposes.slice(0, first))).toEqual(new Set(["audit"]));
  expect(new Set(purposes.slice(first))).toEqual(new Set(["poll"]));
});

test("DELIVERY=polling polls from the start", async () => {
  const { clock, purposes } = poll("polling");
  await clock.advance(70_000);
  expect(new Set(purposes)).toEqual(new Set(["poll"]));
});
