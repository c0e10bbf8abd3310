import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Candidacy, Shared, Topic } from "../faces/inbox.ts";
import { SharedPeers, type Term } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { listenTo } from "../support/channels.ts";
import { logSink } from "../support/log.ts";

const LEASE = 15_000;

let clock: ManualClock;
let asked: (number | undefined)[];
let resigned: number[];
let answer: () => Candidacy | Promise<Candidacy>;
let listeners: Set<(topic: Topic | undefined) => void>;

const leads: Candidacy = { leads: true, term: 7, afterGap: false };
const another = (expiresInMs: number): Candidacy => ({ leads: false, expiresInMs });

beforeEach(() => {
  clock = new ManualClock(1_800_000_000_000);
  asked = [];
  resigned = [];
  answer = () => leads;
  listeners = new Set();
});

function election(bot?: object): { readonly stop: AbortController; readonly it: SharedPeers } {
  const shared: Pick<Shared, "lead" | "resign" | "onChange"> = {
    lead: async (_name, _leaseMs, term) => {
      asked.push(term);
      return await answer();
    },
    resign: async (_name, term) => void resigned.push(term),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const stop = new AbortController();
  const it = new SharedPeers({ shared: shared as Shared, clock, log: logSink().log, bot });
  onTestFinished(async () => {
    stop.abort();
    await it.resign();
  });
  return { stop, it };
}

async function lead(): Promise<Term> {
  const { it, stop } = election();
  const term = await it.nextTerm(stop.signal);
  if (term === undefined) throw new Error("nobody else leads");
  return term;
}

describe("a term", () => {
  test("is renewed three times a lease, with its number", async () => {
    const term = await lead();
    await clock.advance(LEASE * 10);
    expect(asked).toEqual([undefined, ...Array.from({ length: 30 }, () => 7)]);
    expect(term.signal.aborted).toBe(false);
  });

  test("a term ends one lease after the last successful renewal was sent, not after its response", async () => {
    const slow = Promise.withResolvers<Candidacy>();
    answer = () => slow.promise;
    const leading = lead();
    await clock.advance(LEASE - 5_000);
    slow.resolve(leads);
    const term = await leading;
    answer = () => Promise.reject(new Error("away"));
    await clock.advance(4_999);
    expect(term.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(term.signal.aborted).toBe(true);
  });

  test("ends a lease after its last renewal", async () => {
    const term = await lead();
    await clock.advance(LEASE / 3);
    answer = () => Promise.reject(new Error("away"));
    await clock.advance(LEASE - 1);
    expect(term.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(term.signal.aborted).toBe(true);
  });

  test("ends immediately when another instance has taken over", async () => {
    const term = await lead();
    answer = () => another(LEASE);
    await clock.advance(LEASE / 3);
    expect(term.signal.aborted).toBe(true);
  });

  test("survives a store outage shorter than a lease", async () => {
    const term = await lead();
    answer = () => Promise.reject(new Error("away"));
    await clock.advance(LEASE - 1_000);
    answer = () => leads;
    await clock.advance(LEASE * 3);
    expect(term.signal.aborted).toBe(true);
    expect(asked.length).toBeGreaterThan(2);
  });

  test("is released once when the bot stops", async () => {
    const { it, stop } = election();
    const term = await it.nextTerm(stop.signal);
    await it.resign();
    await it.resign();
    expect(resigned).toEqual([7]);
    expect(term?.signal.aborted).toBe(true);
  });
});

test("the lease is published as lost to another instance, and not when it is handed back", async () => {
  const bot = {};
  const lost: (number | undefined)[] = [];
  listenTo(bot, { "lease-lost": ({ what, term }) => what === "log" && lost.push(term) });
  const { it, stop } = election(bot);
  await it.nextTerm(stop.signal);
  answer = () => another(LEASE);
  await clock.advance(LEASE);
  expect(lost).toEqual([7]);
  answer = () => ({ ...leads, term: 8 });
  await it.nextTerm(stop.signal);
  await it.resign();
  expect(lost).toEqual([7]);
});

describe("an instance that does not lead", () => {
  test("tries again on a notification, and when the lease must have expired", async () => {
    answer = () => another(2_000);
    const { it, stop } = election();
    const leading = it.nextTerm(stop.signal);
    await clock.advance(1_000);
    expect(asked).toHaveLength(1);
    await clock.advance(1_001);
    expect(asked).toHaveLength(2);
    answer = () => leads;
    for (const listener of listeners) listener("leader");
    expect(await leading).toMatchObject({ number: 7 });
    expect(asked).toHaveLength(3);
  });

  test("tries again after a third of a lease at the latest, without a notification", async () => {
    answer = () => another(LEASE);
    const { it, stop } = election();
    const leading = it.nextTerm(stop.signal);
    await clock.advance(LEASE / 3);
    expect(asked).toHaveLength(2);
    stop.abort();
    expect(await leading).toBeUndefined();
  });

  test("does not miss a notification during an attempt", async () => {
    const slow = Promise.withResolvers<Candidacy>();
    answer = () => slow.promise;
    const { it, stop } = election();
    const leading = it.nextTerm(stop.signal);
    await clock.advance(0);
    answer = () => leads;
    for (const listener of listeners) listener("leader");
    slow.resolve(another(LEASE));
    expect(await leading).toMatchObject({ number: 7 });
  });
});
