import { expect, test } from "vitest";
import { readSnapshot, type Snapshot, writeSnapshot } from "../faces/poller.ts";

/** Written by the previous version. During an upgrade, instances of both versions share the log. */
const format1 =
  '{"format":1,"state":{"mode":"polling","unconfirmed":[{"id":"1","type":"follow","at":5,"foundAt":6}],' +
  '"webhookTypes":["follow"],"lastDelivery":["1"],"deliveredAt":7,"cleanRounds":1},' +
  '"status":{"modeMsAgo":900,"modeReason":"silence","cursor":"9","lastPollMsAgo":800,' +
  '"lastPollError":{"code":"API_ERROR","status":503},"readToEndMsAgo":700}}';

/** The same snapshot format, as written by a new poller. */
const format1Empty =
  '{"format":1,"state":{"mode":"auditing","unconfirmed":[],"webhookTypes":[],"lastDelivery":[],' +
  '"deliveredAt":null,"cleanRounds":0},"status":{"modeMsAgo":900,"modeReason":"start","cursor":null,' +
  '"lastPollMsAgo":null,"lastPollError":null,"readToEndMsAgo":null}}';

const WRITTEN_AT = 1_000;

/** Times are those of the writer's clock. */
const snapshot: Snapshot = {
  state: {
    mode: "polling",
    unconfirmed: [{ id: "1", type: "follow", at: 5, foundAt: 6 }],
    webhookTypes: new Set(["follow"]),
    lastDelivery: new Set(["1"]),
    deliveredAt: 7,
    cleanRounds: 1,
  },
  status: {
    mode: "polling",
    modeSince: 100,
    modeReason: "silence",
    cursor: "9",
    lastPollAt: 200,
    lastPollError: { code: "API_ERROR", status: 503 },
    readToEndAt: 300,
  },
};

const emptySnapshot: Snapshot = {
  state: {
    mode: "auditing",
    unconfirmed: [],
    webhookTypes: new Set(),
    lastDelivery: new Set(),
    deliveredAt: undefined,
    cleanRounds: 0,
  },
  status: {
    mode: "auditing",
    modeSince: 100,
    modeReason: "start",
    cursor: undefined,
    lastPollAt: undefined,
    lastPollError: undefined,
    readToEndAt: undefined,
  },
};

test.each([
  ["with every field", snapshot, format1],
  ["where nothing is known yet", emptySnapshot, format1Empty],
])("a snapshot %s has the previous version's format", (_name, known, text) => {
  expect(JSON.parse(writeSnapshot(known, WRITTEN_AT))).toEqual(JSON.parse(text));
  expect(readSnapshot(text, WRITTEN_AT)).toEqual(known);
});

test("times are converted to the reader's clock, and the state stays on the platform's", () => {
  const read = readSnapshot(writeSnapshot(snapshot, WRITTEN_AT), WRITTEN_AT + 50_000);
  expect(read?.state).toEqual(snapshot.state);
  expect(read?.status).toEqual({
    ...snapshot.status,
    modeSince: 50_100,
    lastPollAt: 50_200,
    readToEndAt: 50_300,
  });
});

test("a newer version's fields are ignored, and another format is not read", () => {
  const newer = { ...JSON.parse(format1), added: 1 };
  expect(readSnapshot(JSON.stringify(newer), WRITTEN_AT)).toEqual(snapshot);
  expect(readSnapshot(JSON.stringify({ ...newer, format: 3 }), WRITTEN_AT)).toBeUndefined();
  expect(readSnapshot("{", WRITTEN_AT)).toBeUndefined();
});
