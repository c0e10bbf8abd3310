import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RESTORED, readRestoreMark, writeRestoreMark } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { RestoreWindow } from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";

const START = 1_800_000_000_000;

let clock: ManualClock;
let inbox: SqliteInbox;

beforeEach(async () => {
  clock = new ManualClock(START);
  inbox = new SqliteInbox({ file: ":memory:", clock });
  const position = writeRestoreMark({ at: START - 1_000 });
  await inbox.put([], "poll", [{ name: RESTORED, position }]);
  onTestFinished(() => inbox.close());
});

const marked = async () => readRestoreMark(await inbox.cursor(RESTORED));

async function open(): Promise<RestoreWindow> {
  const client = { syncClock: async () => undefined, platformNow: () => clock.now() };
  const restore = await RestoreWindow.open({ inbox, client, clock, log: logSink().log });
  if (restore === undefined) throw new Error("the inbox has no mark");
  return restore;
}

/** Starts an instance whose poller reached the end of the log at this time, or never. */
async function instance(readToEndAt?: number, restore?: RestoreWindow) {
  restore ??= await open();
  const started: { mayBegin?: boolean } = {};
  void restore.start({ status: { readToEndAt, lastPollError: undefined } }).then((mayBegin) => {
    started.mayBegin = mayBegin;
  });
  onTestFinished(() => restore.stop());
  return { restore, started };
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 200) {
    await clock.advance(200);
    for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  }
}

describe("of several instances", () => {
  test("the others begin as soon as the one that reads the log has read it", async () => {
    const { restore, started } = await instance();
    await pass(10_000);
    expect(started.mayBegin).toBeUndefined();
    await instance(clock.now());
    await pass(1_000);
    expect(started.mayBegin).toBe(true);
    expect(restore.mark).toEqual(await marked());
  });

  test("the first one decides which events may have been handled before", async () => {
    const early = await open();
    await instance();
    await pass(1_000);
    expect(await marked()).toMatchObject({ until: START });
    const late = await open();
    for (const restore of [early, late]) {
      await instance(undefined, restore);
      await pass(1_000);
      expect(restore.mark.until).toBe(START);
    }
  });
});

test("a mark that could not be written is written later", async () => {
  const write = inbox.put.bind(inbox);
  inbox.put = () => Promise.reject(new Error("away"));
  const { started } = await instance(START);
  await pass(1_000);
  expect(await marked()).not.toHaveProperty("readAt");
  expect(started.mayBegin).toBe(true);
  inbox.put = write;
  await pass(6_000);
  expect(await marked()).toMatchObject({ readAt: START });
});
