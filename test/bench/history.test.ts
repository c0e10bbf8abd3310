import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { drainInbox } from "../../bench/support/drain.ts";
import { lanesOf, makeHistory } from "../../bench/support/history.ts";
import { makeEvents } from "../../bench/support/queue.ts";
import { parseEventText } from "../faces/events.ts";
import type { NewEvent } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Four lanes; each has events that are done, and events that wait. */
const HISTORY = { done: 60, pending: 40 };

interface EventRow extends NewEvent {
  readonly seq: number;
  readonly state: string;
}

const EVENTS = "SELECT seq, id, lane, ord, type, body, state FROM event ORDER BY seq";

/** What an inbox tells of lanes but for times. */
const LANES = "SELECT key, pending, ready_at IS NULL AS idle, owner, fence, done_ord FROM lane";

const RESTING = "SELECT key, fence, done_ord FROM resting_lane";

/** What an inbox tells of events but for times. */
const OUTCOMES =
  "SELECT seq, id, lane, ord, type, body, source, state, attempts, crashes, fence, error FROM event";

function made(): string {
  const file = join(temporaryFolder(), "made.db");
  makeHistory(file, HISTORY);
  return file;
}

function opened(file: string): SqliteInbox {
  const inbox = new SqliteInbox({ file });
  onTestFinished(() => inbox.close());
  return inbox;
}

function rows<Row>(file: string, sql: string): Row[] {
  const db = new Sqlite(file, { readonly: true });
  try {
    return db.prepare<[], Row>(sql).all();
  } finally {
    db.close();
  }
}

test("a history is what an inbox leaves that has handled the same events", async () => {
  const history = made();
  const events = rows<EventRow>(history, EVENTS);
  const lived = join(temporaryFolder(), "lived.db");
  const inbox = opened(lived);
  await inbox.put(events.slice(0, HISTORY.done), "webhook");
  await drainInbox(inbox, { concurrency: 4 });
  await inbox.put(events.slice(HISTORY.done), "webhook");
  // Lanes that have got events are written with the next claim, or now.
  await inbox.close();
  for (const sql of [LANES, OUTCOMES]) expect(rows(history, sql)).toEqual(rows(lived, sql));
});

test("the lanes of a history in which nothing waits rest, as they do in an inbox an hour later", async () => {
  const history = join(temporaryFolder(), "history.db");
  makeHistory(history, { done: 60, pending: 0 });
  const lived = join(temporaryFolder(), "lived.db");
  const clock = new ManualClock(1_800_000_000_000);
  const inbox = new SqliteInbox({ file: lived, clock });
  await inbox.put(rows<EventRow>(history, EVENTS), "webhook");
  await drainInbox(inbox, { concurrency: 4 });
  await clock.advance(3_600_000);
  while (await inbox.sweep({ bodiesMs: 1e15, idsMs: 1e15, deadLettersMs: 1e15 }));
  await inbox.close();
  expect(rows(history, LANES)).toEqual([]);
  expect(rows(history, RESTING)).toHaveLength(lanesOf({ done: 60, pending: 0 }));
  for (const sql of [LANES, RESTING]) expect(rows(history, sql)).toEqual(rows(lived, sql));
});

test("an inbox hands out what waits in a history, each lane from its first event on", async () => {
  const history = made();
  const waiting = rows<EventRow>(history, EVENTS).filter(({ state }) => state === "pending");
  const inbox = opened(history);
  const claims = await inbox.claim(100, 30_000);
  const lanes = lanesOf(HISTORY);
  const first = waiting.slice(0, lanes).map(({ id }) => id);
  expect(claims.map(({ id }) => id).sort()).toEqual(first);
  expect(claims.every(({ body }) => parseEventText(body).ok)).toBe(true);
  expect(await inbox.heal()).toBe(0);
});

test("a history of nothing is an empty inbox", async () => {
  const file = join(temporaryFolder(), "empty.db");
  makeHistory(file, { done: 0, pending: 0 });
  expect(await opened(file).stats()).toMatchObject({ pending: 0, done: 0 });
});

test("bodies have about 300 bytes", () => {
  const lengths = rows<EventRow>(made(), EVENTS).map(({ body }) => body.length);
  expect(Math.min(...lengths)).toBeGreaterThan(290);
  expect(Math.max(...lengths)).toBeLessThan(320);
});

test("events that are made for a measurement come after every history", () => {
  const last = rows<EventRow>(made(), EVENTS).at(-1)?.id ?? "";
  const [event = { id: "" }] = makeEvents(1, 1);
  expect(event.id).toHaveLength(last.length);
  expect(event.id > `evt_${String(5_000_000).padStart(12, "0")}`).toBe(true);
});

test("events for a measurement are in conversations that far apart", () => {
  const conversations = makeEvents(3, 2, 50).map(({ conversation }) => conversation);
  expect(conversations).toEqual(["c_0", "c_50", "c_0"]);
});
