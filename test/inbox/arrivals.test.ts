import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Claim, NewEvent } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { ManualClock } from "../faces/testing.ts";
import { chooseSeed, Random } from "../faults/random.ts";
import { listenTo } from "../support/channels.ts";
import { first } from "../support/first.ts";
import { message, messages } from "../support/inbox-events.ts";
import { openSqlite } from "../support/sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LEASE = 30_000;

/** An event that every store rejects. */
const REFUSED = { ...message("x"), type: null } as unknown as NewEvent;

let file: string;
let inbox: SqliteInbox;
let transactions: number;
const clock = new ManualClock(1_800_000_000_000);

beforeEach(() => {
  file = join(temporaryFolder(), "bot.db");
  transactions = 0;
  const bot = {};
  listenTo(bot, {
    transaction: () => {
      transactions += 1;
    },
  });
  inbox = new SqliteInbox({ file, clock, bot });
  onTestFinished(() => inbox.close());
});

/** Puts and claims events in the same event loop turn. */
async function putAndClaim(...events: NewEvent[]): Promise<readonly Claim[]> {
  const putting = inbox.put(events, "webhook", [], "a".repeat(32));
  const claiming = inbox.claim(10, LEASE);
  await putting;
  return await claiming;
}

const idsOf = (claims: readonly Claim[]) => claims.map(({ id }) => id);

test("an event and its claim share a transaction, even if the claim came first", async () => {
  const claiming = inbox.claim(10, LEASE);
  await inbox.put(messages("1"), "webhook");
  expect(idsOf(await claiming)).toEqual(["1"]);
  expect(transactions).toBe(1);
});

test("an event that is claimed as it comes has what one has that waited", async () => {
  const [claim] = await putAndClaim(message("1", "a"));
  await inbox.put([message("2", "b")], "webhook", [], "a".repeat(32));
  const [waited] = await inbox.claim(10, LEASE);
  expect({ ...claim, seq: 0, fence: 0 }).toEqual({
    ...{ ...waited, seq: 0, fence: 0 },
    ...{ id: "1", lane: claim?.lane, body: claim?.body, ord: message("1").ord },
  });
});

test("a lane that is at work keeps its new event for later", async () => {
  const claim = first(await putAndClaim(message("1")));
  expect(await putAndClaim(message("2"))).toEqual([]);
  expect(await inbox.advance(claim)).toMatchObject({ next: { id: "2" } });
});

test("of events that come together for one lane the first in order is claimed", async () => {
  expect(idsOf(await putAndClaim(message("2"), message("1")))).toEqual(["1"]);
});

test("lanes that wait are claimed before an event that comes", async () => {
  await inbox.put([message("1", "a"), message("2", "b")], "webhook");
  const putting = inbox.put([message("3", "c")], "webhook");
  expect(idsOf(await inbox.claim(2, LEASE)).sort()).toEqual(["1", "2"]);
  await putting;
  expect(idsOf(await inbox.claim(2, LEASE))).toEqual(["3"]);
});

test("an event of a type without room waits, and one of another type is claimed", async () => {
  const rooms = { byType: new Map([["like", 0]]), others: 1 };
  const like = { ...message("1", "a"), type: "like" };
  const putting = inbox.put([like, message("2", "b"), message("3", "c")], "webhook");
  expect(idsOf(await inbox.claim(10, LEASE, rooms))).toEqual(["2"]);
  await putting;
  expect(idsOf(await inbox.claim(10, LEASE)).sort()).toEqual(["1", "3"]);
});

test("a place goes on with the lane that waits for longest", async () => {
  const claim = first(await putAndClaim(message("1", "a")));
  await inbox.put([message("2", "b")], "webhook");
  await clock.advance(1);
  await inbox.put([message("3", "c")], "webhook");
  const before = transactions;
  const { next } = await inbox.advance(claim, undefined, LEASE);
  expect(next).toMatchObject({ id: "2", attempt: 1 });
  expect(transactions - before).toBe(1);
  expect(idsOf(await inbox.claim(10, LEASE))).toEqual(["3"]);
  expect(next && (await inbox.complete(next))).toBe(true);
});

test("a place goes on with an event that comes meanwhile", async () => {
  const claim = first(await putAndClaim(message("1", "a")));
  const advancing = inbox.advance(claim, undefined, LEASE);
  await inbox.put([message("2", "b")], "webhook");
  expect(await advancing).toMatchObject({ held: true, next: { id: "2" } });
});

test("a place does not go on with an event of another type, whose places may be taken", async () => {
  const claim = first(await putAndClaim(message("1", "a")));
  await inbox.put([{ ...message("2", "b"), type: "like" }], "webhook");
  const { held, next } = await inbox.advance(claim, undefined, LEASE);
  expect({ held, next }).toEqual({ held: true, next: undefined });
  expect(idsOf(await inbox.claim(10, LEASE))).toEqual(["2"]);
});

test("a place without a lease for another lane does not go on with one", async () => {
  const claim = first(await putAndClaim(message("1", "a")));
  await inbox.put([message("2", "b")], "webhook");
  const { held, next } = await inbox.advance(claim);
  expect({ held, next }).toEqual({ held: true, next: undefined });
});

test("a transaction that is undone leaves no claim of an event that was refused", async () => {
  const refused = inbox.put([message("1", "a"), REFUSED], "webhook");
  const putting = inbox.put([message("2", "b")], "webhook");
  const claiming = inbox.claim(10, LEASE);
  await expect(refused).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await putting;
  expect(idsOf([...(await claiming), ...(await inbox.claim(10, LEASE))])).toEqual(["2"]);
  expect(idsOf(await putAndClaim(message("1", "a")))).toEqual(["1"]);
});

test("a kill after the claim leaves the event to the next start", async () => {
  await putAndClaim(message("1"));
  const left = `${file}-left`;
  const copy = new Sqlite(file);
  await copy.backup(left);
  copy.close();
  const next = openSqlite({ file: left, clock });
  expect(await next.claim(10, LEASE)).toMatchObject([{ id: "1", attempt: 2, crashes: 1 }]);
});

test("for any concurrent calls, each event is claimed until it has ended, in the order of its lane", async () => {
  const random = new Random(chooseSeed());
  const running = new Map<string, Claim>();
  const ending = new Set<string>();
  const done = new Map<string, string[]>();
  let written = 0;
  const begin = (claims: readonly Claim[]) => {
    for (const claim of claims) {
      expect(ending.has(claim.lane) || !running.has(claim.lane), `${claim.lane} twice`).toBe(true);
      running.set(claim.lane, claim);
    }
  };
  const end = async (claim: Claim) => {
    ending.add(claim.lane);
    const kind = random.pick(["advance", "advance", "complete", "retry", "release"] as const);
    const next = kind === "advance" ? await inbox.advance(claim, undefined, LEASE) : undefined;
    if (kind === "complete") expect(await inbox.complete(claim)).toBe(true);
    if (kind === "retry") expect(await inbox.retry(claim, 0, "no")).toBe(true);
    if (kind === "release") expect(await inbox.release(claim, 0)).toBe(true);
    ending.delete(claim.lane);
    if (running.get(claim.lane) === claim) running.delete(claim.lane);
    if (kind === "retry" || kind === "release") return;
    done.set(claim.lane, [...(done.get(claim.lane) ?? []), claim.id]);
    if (next?.next !== undefined) begin([next.next]);
  };
  const put = async () => {
    const events = Array.from({ length: 1 + random.below(3) }, () => {
      written += 1;
      return message(String(1000 + written), `lane-${random.below(6)}`);
    });
    await inbox.put(events, "webhook");
  };
  const refuse = async () => void (await inbox.put([REFUSED], "webhook").catch(() => undefined));
  for (let turn = 0; turn < 400; turn++) {
    await clock.advance(1);
    const work = [...running.values()].filter(() => random.below(3) > 0).map(end);
    if (random.below(2) === 0) work.push(put());
    if (random.below(8) === 0) work.push(refuse());
    if (random.below(3) > 0) work.push(inbox.claim(1 + random.below(4), LEASE).then(begin));
    await Promise.all(work);
  }
  while (running.size > 0 || (await inbox.nextReadyIn()) === 0) {
    await clock.advance(1);
    await Promise.all([...[...running.values()].map(end), inbox.claim(4, LEASE).then(begin)]);
  }
  const all = [...done.values()].flat();
  expect(new Set(all).size).toBe(written);
  expect(all.length).toBe(written);
  for (const ids of done.values()) expect(ids).toEqual([...ids].sort());
  await inbox.close();
  const db = new Sqlite(file);
  for (const left of ["lane WHERE ready_at IS NOT NULL", "event WHERE leased_until IS NOT NULL"]) {
    expect(db.prepare(`SELECT * FROM ${left}`).all()).toEqual([]);
  }
  db.close();
});
