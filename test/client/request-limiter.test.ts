import { describe, expect, test } from "vitest";
import { MIN_PER_MINUTE, NetworkError, type RequestKind, RequestLimiter } from "../faces/client.ts";
import { ManualClock } from "../faces/testing.ts";
import { messagesOf, rejection } from "./api.ts";

const START = 1_800_000_000_000;

function budget(perMinute: number) {
  const clock = new ManualClock(START);
  const bot = {};
  const waits = messagesOf(bot, "budget-wait");
  const shared = new RequestLimiter({ perMinute, clock, random: () => 1, bot });
  /** Admitted requests in order, each with its time since the start, in ms. */
  const sent: [name: string, at: number][] = [];
  const take = (kind: RequestKind, signal?: AbortSignal, name: string = kind) =>
    shared.take(kind, signal).then((place) => {
      sent.push([name, clock.now() - START]);
      return place;
    });
  const send = async (kind: RequestKind, signal?: AbortSignal, name?: string): Promise<void> => {
    (await take(kind, signal, name)).end();
  };
  const use = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await send("write", undefined, "used");
    sent.length = 0;
  };
  return { clock, waits, budget: shared, sent, take, send, use };
}

describe("places", () => {
  test("are held until a minute after the request has ended, not after it was sent", async () => {
    const { clock, budget: shared, take } = budget(2);
    const slow = await take("write");
    (await take("write")).end();
    await clock.advance(30_000);
    slow.end();
    expect(shared.status.left).toBe(0);
    await clock.advance(29_999);
    expect(shared.status.left).toBe(0);
    await clock.advance(1);
    expect(shared.status.left).toBe(1);
    await clock.advance(29_999);
    expect(shared.status.left).toBe(1);
    await clock.advance(1);
    expect(shared.status.left).toBe(2);
  });

  test("are held by requests that are under way, however long", async () => {
    const { clock, budget: shared, take } = budget(1);
    await take("write");
    await clock.advance(600_000);
    expect(shared.status).toEqual({ perMinute: 1, left: 0, waiting: 0 });
  });

  test("that are returned are available at once", async () => {
    const { budget: shared, take, sent } = budget(1);
    const place = await take("write", undefined, "first");
    const waiting = take("audit");
    place.giveBack();
    await waiting;
    expect(sent).toEqual([
      ["first", 0],
      ["audit", 0],
    ]);
    expect(shared.status).toEqual({ perMinute: 1, left: 0, waiting: 0 });
  });

  test("are not held for longer than a minute when the clock is set back", async () => {
    const times = { now: START };
    const clock = { now: () => times.now, timer: () => () => undefined };
    const shared = new RequestLimiter({ perMinute: 1, clock, random: () => 1 });
    (await shared.take("write")).end();
    times.now -= 3_600_000;
    expect(shared.status.left).toBe(0);
    times.now += 60_000;
    expect(shared.status.left).toBe(1);
  });
});

describe("the order", () => {
  test("is writes, reads, audit, polling, and the first come first within each", async () => {
    const { clock, sent, send, use } = budget(8);
    await use(8);
    await clock.advance(56_000);
    for (const round of ["1", "2"]) {
      for (const kind of ["poll", "audit", "read", "write"] as const) {
        void send(kind, undefined, `${kind} ${round}`);
      }
    }
    await clock.advance(60_000);
    const order = ["write 1", "write 2", "read 1", "read 2", "audit 1", "audit 2"];
    expect(sent.slice(0, 6).map(([name]) => name)).toEqual(order);
    await clock.advance(60_000);
    expect(sent.slice(6).map(([name]) => name)).toEqual(["poll 1", "poll 2"]);
  });

  test("polling leaves a quarter to the others, which the audit may use", async () => {
    const { budget: shared, sent, send } = budget(10);
    for (let i = 0; i < 10; i++) void send("poll");
    await send("audit");
    expect(sent.map(([name]) => name)).toEqual([...Array(7).fill("poll"), "audit"]);
    expect(shared.status).toEqual({ perMinute: 10, left: 2, waiting: 3 });
    await send("audit");
    await send("read");
    expect(shared.status.left).toBe(0);
  });

  test.each(["audit", "poll"] as const)("%s goes first after a minute", async (kind) => {
    const { clock, sent, send, use } = budget(4);
    await use(4);
    void send(kind);
    const busy = new AbortController();
    const flood = () => send("write", busy.signal).catch(() => undefined);
    for (let ms = 0; ms < 61_000; ms += 500) {
      void flood();
      await clock.advance(500);
    }
    expect(sent[0]).toEqual([kind, 60_000]);
    expect(sent.filter(([name]) => name === "write")).not.toEqual([]);
  });

  test("a poll that is held back by the reserve goes after a minute, too", async () => {
    const { clock, sent, send, use } = budget(4);
    await use(2);
    await clock.advance(20_000);
    await send("write");
    void send("poll");
    await clock.advance(39_999);
    expect(sent.map(([name]) => name)).toEqual(["write"]);
    await clock.advance(1);
    // The first two permits are available again.
    expect(sent.at(-1)).toEqual(["poll", 60_000]);
  });

  test("while handlers are put off, the audit leaves the quarter, and a read the place of its write", async () => {
    const { clock, budget: shared, sent, send, use } = budget(8);
    await use(8);
    await rejection(send("write"));
    // All permits are free again, but deferred callers may not have returned yet.
    await clock.advance(60_000);
    for (let i = 0; i < 8; i++) void send("audit");
    expect(shared.status).toMatchObject({ left: 2, waiting: 2 });
    await send("read");
    expect(await rejection(send("read"))).toMatchObject({ code: "API_BUDGET_SPENT" });
    await send("write");
    expect(shared.status).toMatchObject({ left: 0, waiting: 2 });
    expect(sent.map(([name]) => name)).toEqual([...Array(6).fill("audit"), "read", "write"]);
  });

  test("no permit stays reserved once all deferred callers have had time to return", async () => {
    const { clock, sent, send, use } = budget(8);
    await use(8);
    await rejection(send("write"));
    await clock.advance(60_000);
    for (let i = 0; i < 8; i++) void send("audit");
    await clock.advance(5_000);
    expect(sent).toHaveLength(8);
  });
});

describe("a handler's request", () => {
  test("waits for a place that comes free within five seconds", async () => {
    const { clock, sent, send, use } = budget(1);
    await use(1);
    await clock.advance(55_000);
    void send("read");
    await clock.advance(5_000);
    expect(sent).toEqual([["read", 60_000]]);
  });

  test("is refused at once when no place can be free by then, with the time that it takes", async () => {
    const { clock, sent, send, use } = budget(1);
    await use(1);
    await clock.advance(54_999);
    const error = await rejection(send("write"));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ code: "API_BUDGET_SPENT", sent: false, retryAfterMs: 5_001 });
    await clock.advance(5_001);
    expect(sent).toEqual([]);
    await send("write");
    expect(sent).toEqual([["write", 60_000]]);
  });

  test("is refused after five seconds when others took the place that it waited for", async () => {
    const { clock, budget: shared, send, use } = budget(1);
    await use(1);
    await clock.advance(57_000);
    const read = rejection(send("read"));
    void send("write");
    await clock.advance(5_000);
    expect(await read).toMatchObject({ code: "API_BUDGET_SPENT" });
    expect(shared.status.waiting).toBe(0);
  });

  test("gets a time to return in turn, as permits become available, within 15 minutes", async () => {
    const { send, use } = budget(60);
    await use(60);
    const waits: number[] = [];
    for (let i = 0; i < 2_000; i++) {
      const { retryAfterMs } = (await rejection(send("write"))) as NetworkError;
      waits.push(retryAfterMs ?? 0);
    }
    expect(waits.slice(0, 3)).toEqual([60_000, 61_000, 62_000]);
    expect(Math.max(...waits)).toBe(900_000);
    expect(waits.filter((ms) => ms < 900_000)).toHaveLength(840);
  });
});

describe("a budget that is divided among instances", () => {
  test("has the share of one, rounded down, and never fewer requests than a run may need", () => {
    const { budget: shared } = budget(20);
    shared.divideBy(3);
    expect(shared.status).toMatchObject({ perMinute: 6, left: 6 });
    shared.divideBy(40);
    expect(shared.status).toMatchObject({ perMinute: MIN_PER_MINUTE, left: MIN_PER_MINUTE });
    shared.divideBy(1);
    expect(shared.status).toMatchObject({ perMinute: 20, left: 20 });
  });

  test("lets a run of three requests end with many instances", async () => {
    const { clock, budget: shared, sent, send, use } = budget(10);
    shared.divideBy(10);
    await use(5);
    expect(await rejection(send("read"))).toMatchObject({ code: "API_BUDGET_SPENT" });
    await clock.advance(60_000);
    for (const kind of ["read", "read", "write"] as const) await send(kind);
    expect(sent.map(([name]) => name)).toEqual(["read", "read", "write"]);
  });

  test("that is smaller than the minimum is not exceeded by one instance", () => {
    const { budget: shared } = budget(2);
    shared.divideBy(2);
    expect(shared.status).toMatchObject({ perMinute: 2, left: 2 });
  });

  test("counts requests from before, and reports no negative rest", async () => {
    const { clock, budget: shared, sent, send, use } = budget(10);
    await use(8);
    shared.divideBy(2);
    expect(shared.status).toMatchObject({ perMinute: 5, left: 0 });
    await clock.advance(56_000);
    void send("write");
    await clock.advance(4_000);
    expect(sent).toEqual([["write", 60_000]]);
  });

  test("serves requests that wait as soon as the share grows", async () => {
    const { budget: shared, sent, send, use } = budget(10);
    shared.divideBy(2);
    await use(5);
    const audit = send("audit");
    expect(shared.status).toMatchObject({ left: 0, waiting: 1 });
    shared.divideBy(1);
    await audit;
    expect(sent).toEqual([["audit", 0]]);
  });
});

describe("a request that is aborted", () => {
  test.each(["read", "poll"] as const)("while it waits takes no place: %s", async (kind) => {
    const { clock, budget: shared, send, use } = budget(1);
    await use(1);
    await clock.advance(58_000);
    const abort = new AbortController();
    const ended = rejection(send(kind, abort.signal));
    expect(shared.status.waiting).toBe(1);
    abort.abort(new Error("enough"));
    expect(await ended).toMatchObject({ message: "enough" });
    await clock.advance(2_000);
    expect(shared.status).toEqual({ perMinute: 1, left: 1, waiting: 0 });
    expect(clock.waiting).toBe(0);
  });

  test("before it waits takes none either", async () => {
    const { budget: shared, send } = budget(1);
    await rejection(send("write", AbortSignal.abort(new Error("enough"))));
    expect(shared.status.left).toBe(1);
  });

  test("once it has its place keeps it", async () => {
    const { budget: shared, take } = budget(1);
    const abort = new AbortController();
    const place = await take("write", abort.signal);
    abort.abort();
    expect(shared.status.left).toBe(0);
    place.end();
    expect(shared.status.left).toBe(0);
  });
});

describe("waiting", () => {
  test("is reported with the kind that waits, at most once a minute", async () => {
    const { clock, waits, send, use } = budget(4);
    await use(4);
    void send("poll");
    await rejection(send("write"));
    await clock.advance(59_999);
    void send("audit");
    expect(waits).toEqual([{ kind: "poll", perMinute: 4 }]);
    await clock.advance(1);
    await use(2);
    void send("read").catch(() => undefined);
    expect(waits).toEqual([
      { kind: "poll", perMinute: 4 },
      { kind: "read", perMinute: 4 },
    ]);
  });

  test("is not reported without a waiting request", async () => {
    const { waits, use } = budget(4);
    await use(4);
    expect(waits).toEqual([]);
  });
});
