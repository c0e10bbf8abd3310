import { expect, test } from "vitest";
import { defaultLane } from "../faces/events.ts";
import { LogReader } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import { FakeLog } from "./fake-log.ts";
import { MemoryInbox } from "./simulation/memory-inbox.ts";

const { signal } = new AbortController();

async function open(cursorOf = (cursor: string) => cursor) {
  const clock = new ManualClock(1_800_000_000_000);
  const log = new FakeLog(clock);
  const inbox = new MemoryInbox(() => clock.now());
  const client = {
    events: async (query: { since?: string | undefined } = {}) => {
      const page = await log.events(query.since === undefined ? {} : { since: query.since });
      return { ...page, cursor: cursorOf(page.cursor) };
    },
  };
  const platformClock = { now: () => clock.now() };
  const reader = new LogReader({
    inbox,
    client,
    laneOf: defaultLane,
    log: logSink().log,
    startFrom: "oldest",
    platformClock,
  });
  await reader.open(signal);
  return { clock, log, inbox, reader };
}

test("a late read from the head does not move the cursor past the events before the head", async () => {
  const { clock, log, inbox, reader } = await open();
  log.add("10");
  await reader.read("cursor", signal);
  log.add("11");
  await clock.advance(50_000);
  log.add("9", "dm.message", clock.now() - 50_001);
  // The API was down. By now, events after the head are old, and events before it have not been reread.
  await clock.advance(20_000);
  await reader.read("head", signal);
  await reader.read("cursor", signal);
  expect([...inbox.events.keys()].sort()).toEqual(["10", "11", "9"]);
});

test("a cursor ahead of the last event is kept once a minute has passed since it was seen", async () => {
  // The token cannot read the last event in the log.
  const { clock, log, inbox, reader } = await open((cursor) => (cursor === "1" ? "5" : cursor));
  log.add("1");
  await clock.advance(61_000);
  await reader.read("cursor", signal);
  expect(await inbox.cursor("events")).toBeUndefined();
  log.add("4");
  await reader.read("cursor", signal);
  expect([...inbox.events.keys()]).toContain("4");
  await clock.advance(61_000);
  await reader.read("cursor", signal);
  expect(await inbox.cursor("events")).toBeDefined();
});

test("a cursor ahead of the last event is itself stored once a minute has passed since it was seen", async () => {
  const { clock, log, inbox, reader } = await open((cursor) => (cursor === "1" ? "5" : cursor));
  log.add("1");
  await clock.advance(61_000);
  await reader.read("cursor", signal);
  await clock.advance(60_000);
  await reader.read("cursor", signal);
  expect(await inbox.cursor("events")).toBeUndefined();
  await clock.advance(1);
  await reader.read("cursor", signal);
  expect(await inbox.cursor("events")).toBe("5");
});
