import { expect, test } from "vitest";
import { instancesText } from "../faces/cli.ts";

const instance = {
  id: "0b7e4f5a-1111",
  host: "web\u001b1",
  pid: 12,
  version: "1.2.3",
  startedMsAgo: 3 * 60_000,
  seenMsAgo: 10,
  deliveredMsAgo: undefined,
};

test("instances are shown with the one that reads the event log", () => {
  const poller = { holder: instance.id, term: 7, expiresInMs: 11_200 };
  const other = { ...instance, id: "c0ffee00-2222" };
  const text = instancesText({ instances: [instance, other], poller, endedLastMinute: 1_200 });
  expect(text.split("\n")).toEqual([
    "INSTANCE  HOST        PID  VERSION  STARTED    EVENT LOG",
    "0b7e4f5a  web\\u001b1  12   1.2.3    3 min ago  reads it",
    "c0ffee00  web\\u001b1  12   1.2.3    3 min ago",
    "",
    "leader of the event log: term 7, lease expires in 12 s unless renewed",
    "1,200 events ended in the last minute",
  ]);
});

test("an event log without a reader is reported", () => {
  const poller = { holder: undefined, term: 7, expiresInMs: 0 };
  const text = instancesText({ instances: [instance], poller, endedLastMinute: 0 });
  expect(text).toContain("no instance reads the event log");
  expect(instancesText({ instances: [], poller: undefined, endedLastMinute: 1 })).toBe(
    "1 event ended in the last minute",
  );
});
