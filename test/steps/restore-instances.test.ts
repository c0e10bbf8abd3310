import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RESTORED, readRestoreMark, writeRestoreMark } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import type { PollerStatus } from "../faces/poller.ts";
import { Restored } from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { message } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";

const START = 1_800_000_000_000;

let clock: ManualClock;
let inbox: SqliteInbox;
let lines: ReturnType<typeof logSink>;
/** How often the inbox was asked what waits. */
let measured: number;

beforeEach(async () => {
  clock = new ManualClock(START);
  inbox = new SqliteInbox({ file: ":memory:", clock });
  lines = logSink();
  measured = 0;
  const measure = inbox.measure.bind(inbox);
  inbox.measure = () => {
    measured += 1;
    return measure();
  };
  await put("1");
  const position = writeRestoreMark({ at: START - 1_000, assumeAbsent: false });
  await inbox.put([], "poll", [{ name: RESTORED, position }]);
  onTestFinished(() => inbox.close());
});

const put = (id: string) => inbox.put([{ ...message(id), lane: id }], "webhook");
const marked = async () => readRestoreMark(await inbox.cursor(RESTORED));
const isOver = async () => (await marked())?.overAt !== undefined;

/** What one instance knows, whose poller has read the log to its end at that time, or reads none. */
async function instance(readToEndAt?: number): Promise<Restored> {
  const client = { syncClock: async () => undefined, platformNow: () => clock.now() };
  const restored = await Restored.of({ inbox, client, clock, log: lines.log });
  if (restored === undefined) throw new Error("the inbox has no mark");
  const status: PollerStatus = {
    mode: "auditing",
    modeSince: START,
    modeReason: "the bot has started",
    cursor: undefined,
    lastPollAt: undefined,
    lastPollError: undefined,
    readToEndAt,
  };
  restored.start({ status });
  onTestFinished(() => restored.stop());
  return restored;
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 200) {
    await clock.advance(200);
    for (let n = 0; n < 5; n++) await new Promise(setImmediate);
  }
}

async function completeAll(): Promise<void> {
  for (const claim of await inbox.claim(10, 60_000)) await inbox.complete(claim);
}

describe("of several instances", () => {
  test("the others begin as soon as the one that reads the log has read it", async () => {
    const follower = await instance();
    let goesOn: boolean | undefined;
    void follower.logIsRead().then((value) => {
      goesOn = value;
    });
    await pass(10_000);
    expect(goesOn).toBeUndefined();
    await instance(clock.now());
    await pass(1_000);
    expect(goesOn).toBe(true);
    expect(follower.mark).toEqual(await marked());
  });

  test("each learns from the others that nothing is in doubt any more, and that is said once by each", async () => {
    const restored = [await instance(START), await instance()];
    await pass(1_000);
    await completeAll();
    await pass(10_000);
    expect(restored.map(({ mark }) => mark)).toEqual([await marked(), await marked()]);
    expect(await isOver()).toBe(true);
    expect(lines.records.filter(({ level }) => level === "info")).toHaveLength(2);
  });

  test("what was made until when is in doubt is what the first one has learned", async () => {
    await instance();
    await pass(1_000);
    const { until } = (await marked()) ?? {};
    expect(until).toBe(START);
    const second = await instance();
    await pass(1_000);
    expect(second.mark.until).toBe(until);
  });
});

describe("while something is in doubt", () => {
  test("the inbox is asked every few seconds, and for what costs little", async () => {
    inbox.stats = () => Promise.reject(new Error("counts everything"));
    await instance(START);
    await pass(60_000);
    expect(measured).toBeGreaterThan(5);
    expect(measured).toBeLessThan(15);
    expect(await isOver()).toBe(false);
  });

  test("what came later by less than clocks differ may be in doubt, too", async () => {
    await instance(START);
    await pass(5_000);
    await completeAll();
    await put("2");
    await pass(10_000);
    expect(await isOver()).toBe(false);
    await put("3");
    await inbox.claim(1, 60_000).then(async ([claim]) => claim && (await inbox.complete(claim)));
    await pass(10_000);
    expect(await isOver()).toBe(true);
    expect(await inbox.measure()).toMatchObject({ pending: 1 });
  });
});

test("what could not be written is written later", async () => {
  const write = inbox.put.bind(inbox);
  inbox.put = () => Promise.reject(new Error("away"));
  await completeAll();
  await instance(START);
  await pass(1_000);
  expect(await isOver()).toBe(false);
  inbox.put = write;
  await pass(6_000);
  expect(await isOver()).toBe(true);
});
