import { describe, expect, test } from "vitest";
import { ApiError, NetworkError } from "../faces/client.ts";
import { systemClock } from "../faces/core.ts";
import { GiveUp, RetryLater, ServiceBotError } from "../faces/errors.ts";
import type { Claim } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { deadLetters } from "../support/dead-letters.ts";
import { message, messages } from "../support/inbox-events.ts";
import { gate, harness, stop } from "./harness.ts";

describe("handling", () => {
  test("an event is handled once and is done", async () => {
    const seen: string[] = [];
    const { inbox, dispatcher } = harness((job) => seen.push(job.event.id));
    await inbox.put(messages("1"), "webhook");
    await inbox.put(messages("1"), "poll");
    await dispatcher.idle();
    expect(seen).toEqual(["1"]);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
  });

  test("the handler gets the event with its attempt, door and lateness", async () => {
    const seen: unknown[] = [];
    const { inbox, dispatcher } = harness(({ event, claim: { attempt, source, late } }) =>
      seen.push({ id: event.id, type: event.type, attempt, source, late }),
    );
    await inbox.put(messages("5"), "webhook");
    await dispatcher.idle();
    await inbox.put(messages("4"), "poll");
    await dispatcher.idle();
    expect(seen).toEqual([
      { id: "5", type: "dm.message", attempt: 1, source: "webhook", late: false },
      { id: "4", type: "dm.message", attempt: 1, source: "poll", late: true },
    ]);
  });

  test("one lane is handled in order while another one goes on beside it", async () => {
    const slow = gate();
    const seen: string[] = [];
    const { inbox, dispatcher } = harness(async (job) => {
      if (job.event.id === "1") await slow.pass();
      seen.push(job.event.id);
    });
    await inbox.put([message("1", "a"), message("2", "a")], "webhook");
    await slow.entered;
    await inbox.put([message("3", "b")], "webhook");
    await untilTrue(() => seen.includes("3"));
    expect(seen).toEqual(["3"]);
    slow.open();
    await dispatcher.idle();
    expect(seen).toEqual(["3", "1", "2"]);
  });

  test("each event is one line in the log", async () => {
    const { inbox, dispatcher, log } = harness(() => undefined);
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(log.records).toMatchObject([
      { level: "info", event: "1", type: "dm.message", lane: "dm:c1", attempt: 1 },
    ]);
  });
});

describe("failures", () => {
  test("a failed event is tried again after a growing wait, and then it is done", async () => {
    const attempts: number[] = [];
    const { inbox, dispatcher, clock, failures } = harness((job) => {
      attempts.push(job.claim.attempt);
      if (job.claim.attempt < 3) throw new Error("boom");
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    for (const wait of [500, 1_000]) {
      const before = attempts.length;
      await clock.advance(wait - 1);
      expect(attempts).toHaveLength(before);
      await clock.advance(1);
      await dispatcher.idle();
      expect(attempts).toHaveLength(before + 1);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1, dead: 0 });
    expect(failures).toHaveLength(2);
  });

  test("after the last attempt the event is a dead letter and its lane continues", async () => {
    const seen: string[] = [];
    const { inbox, dispatcher, clock } = harness((job) => {
      seen.push(job.event.id);
      if (job.event.id === "1") throw new TypeError("boom");
    });
    await inbox.put(messages("1", "2"), "webhook");
    await dispatcher.idle();
    await clock.advance(1_000);
    await dispatcher.idle();
    await clock.advance(2_000);
    await dispatcher.idle();
    expect(seen).toEqual(["1", "1", "1", "2"]);
    expect(await deadLetters(inbox)).toMatchObject([
      { id: "1", attempts: 3, error: "TypeError: boom" },
    ]);
  });

  test("neither the log nor the dead letter contains the message", async () => {
    const { inbox, dispatcher, log } = harness(
      () => {
        throw new Error("cannot answer: text of 1, with whsec_very_secret");
      },
      { maxAttempts: 1, scrub: (text) => text.replaceAll("whsec_very_secret", "[redacted]") },
    );
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    const [letter] = await deadLetters(inbox);
    expect(letter?.error).toBe("Error: cannot answer: [redacted], with [redacted]");
    expect(log.text()).toContain("cannot answer");
    expect(log.text()).not.toContain("text of 1");
    expect(log.text()).not.toContain("whsec_very_secret");
  });

  test("user text is not in the history of a postponed run either", async () => {
    const { inbox, dispatcher } = harness(() => {
      throw new ApiError("cannot send: text of 1", { status: 503 });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect((await inbox.admin.show("1")).history).toMatchObject([
      { number: 1, outcome: "released", error: "ApiError API_ERROR: cannot send: [redacted]" },
    ]);
  });

  test("a handler that killed the process every time is not run again", async () => {
    const inbox = new SqliteInbox({ file: ":memory:" });
    await inbox.put(messages("1"), "webhook");
    // Three processes claimed the event and crashed before recording an outcome.
    for (let i = 0; i < 3; i++) await inbox.claim(1, 0);
    const seen: string[] = [];
    const { dispatcher } = harness((job) => seen.push(job.event.id), { inbox, clock: systemClock });
    await dispatcher.idle();
    expect(seen).toEqual([]);
    expect((await deadLetters(inbox))[0]?.error).toContain("3 of ");
    const { history } = await inbox.admin.show("1");
    const outcomes = history.map(({ number, outcome }) => `${number} ${outcome}`);
    expect(outcomes).toEqual(["1 crashed", "2 crashed", "3 crashed", "4 dead"]);
  });

  test("something thrown that is no error is recorded too", async () => {
    const { inbox, dispatcher } = harness(
      () => {
        throw "a word";
      },
      { maxAttempts: 1 },
    );
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect((await deadLetters(inbox))[0]?.error).toBe("string: a word");
  });
});

describe("outages", () => {
  const outages = {
    "no connection": new NetworkError("API_UNREACHABLE", "down", { sent: false }),
    "no answer in time": new NetworkError("API_TIMEOUT", "slow", { sent: true }),
    "429": new ApiError("slow down", { status: 429 }),
    "503": new ApiError("away", { status: 503 }),
    "a wrapped 503": new Error("in my code", { cause: new ApiError("away", { status: 503 }) }),
    "a store that is full": new ServiceBotError("STORE_UNAVAILABLE", "database or disk is full"),
  };

  for (const [name, error] of Object.entries(outages)) {
    test(`${name} does not count as an attempt`, async () => {
      const attempts: number[] = [];
      let down = true;
      const { inbox, dispatcher, clock } = harness((job) => {
        attempts.push(job.claim.attempt);
        if (down) throw error;
      });
      await inbox.put(messages("1"), "webhook");
      for (let i = 0; i < 6; i++) {
        await dispatcher.idle();
        await clock.advance(10_000);
      }
      down = false;
      await clock.advance(10_000);
      await dispatcher.idle();
      expect(attempts.length).toBeGreaterThan(3);
      expect(new Set(attempts)).toEqual(new Set([1]));
      expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
    });
  }

  test("a 400 does burn attempts", async () => {
    const { inbox, dispatcher } = harness(
      () => {
        throw new ApiError("bad request", { status: 400 });
      },
      { maxAttempts: 1 },
    );
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ dead: 1 });
  });

  test("Retry-After is honoured", async () => {
    let calls = 0;
    const { inbox, dispatcher, clock } = harness(() => {
      calls += 1;
      if (calls === 1) throw new ApiError("slow down", { status: 429, retryAfterMs: 30_000 });
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    await clock.advance(29_999);
    expect(calls).toBe(1);
    // Jitter prolongs the first backoff, so that the lanes do not all come back at once.
    await clock.advance(501);
    await dispatcher.idle();
    expect(calls).toBe(2);
  });
});

test("an observer that never ends keeps neither the event nor the stop waiting", async () => {
  const { inbox, dispatcher, clock, log } = harness(
    () => {
      throw new Error("boom");
    },
    { maxAttempts: 1, failed: () => new Promise(() => undefined) },
  );
  await inbox.put(messages("1"), "webhook");
  await untilTrue(() => clock.waiting > 3);
  await clock.advance(1_000);
  await dispatcher.idle();
  expect(await inbox.stats()).toMatchObject({ dead: 1 });
  expect(log.records[0]).toMatchObject({ level: "warn", ms: expect.any(Number) });
});

describe("handlers that decide about retries", () => {
  test("RetryLater sets the wait, and the attempt counts", async () => {
    const attempts: number[] = [];
    const { inbox, dispatcher, clock } = harness((job) => {
      attempts.push(job.claim.attempt);
      throw new RetryLater(90_000);
    });
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    for (const expected of [
      [1, 2],
      [1, 2, 3],
    ]) {
      await clock.advance(89_999);
      expect(attempts).toHaveLength(expected.length - 1);
      await clock.advance(1);
      await dispatcher.idle();
      expect(attempts).toEqual(expected);
    }
    expect(await deadLetters(inbox)).toMatchObject([{ id: "1", attempts: 3 }]);
  });

  test("RetryLater that does not count never ends in the dead letters", async () => {
    const attempts: number[] = [];
    const { inbox, dispatcher, clock } = harness((job) => {
      attempts.push(job.claim.attempt);
      if (attempts.length < 10) throw new RetryLater(1_000, "not yet", { counts: false });
    });
    await inbox.put(messages("1"), "webhook");
    for (let i = 0; i < 10; i++) {
      await dispatcher.idle();
      await clock.advance(1_000);
    }
    expect(attempts).toEqual(Array(10).fill(1));
    expect(await inbox.stats()).toMatchObject({ done: 1, dead: 0 });
  });

  test("GiveUp ends the event at once, with its reason, also where it is a cause", async () => {
    const { inbox, dispatcher } = harness((job) => {
      const error = new GiveUp("no such order");
      throw job.event.id === "1" ? error : new Error("in my code", { cause: error });
    });
    await inbox.put(messages("1", "2"), "webhook");
    await dispatcher.idle();
    expect(await deadLetters(inbox)).toMatchObject([
      { id: "2", attempts: 1, error: "Error: in my code" },
      { id: "1", attempts: 1, error: "GiveUp: no such order" },
    ]);
  });

  test("a delay that is no number of milliseconds, or more than 365 days, is refused", () => {
    const year = 365 * 86_400_000;
    for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e300, year + 1]) {
      expect(() => new RetryLater(delay)).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTION",
          message: expect.stringContaining(`0 to ${year}`),
        }),
      );
    }
    expect(new RetryLater(year).delayMs).toBe(year);
  });

  test("a type's options override the bot's", async () => {
    const attempts: number[] = [];
    const hanging = gate();
    const { inbox, dispatcher, clock } = harness(
      (job) => {
        attempts.push(job.claim.attempt);
        if (job.claim.attempt === 2) return hanging.pass();
        throw new Error("boom");
      },
      {
        optionsFor: (type) =>
          type === "dm.message" ? { maxAttempts: 2, timeoutMs: 500, retry: { baseMs: 8_000 } } : {},
      },
    );
    await inbox.put(messages("1"), "webhook");
    await dispatcher.idle();
    await clock.advance(3_999);
    expect(attempts).toEqual([1]);
    await clock.advance(1);
    await hanging.entered;
    await clock.advance(500);
    await clock.advance(1_000);
    await dispatcher.idle();
    expect((await deadLetters(inbox))[0]?.error).toContain("500 ms");
    hanging.open();
  });
});

describe("time", () => {
  test("a handler that exceeds its timeout is aborted, counts as failed, and its late result is dropped", async () => {
    const hanging = gate();
    const signals: AbortSignal[] = [];
    const { inbox, dispatcher, clock, failures } = harness(async (job) => {
      signals.push(job.signal);
      if (job.claim.attempt === 1) await hanging.pass();
    });
    await inbox.put(messages("1"), "webhook");
    await hanging.entered;
    await clock.advance(60_000);
    expect(signals[0]?.aborted).toBe(true);
    await clock.advance(1_000);
    expect(failures).toMatchObject([{ code: "HANDLER_TIMEOUT" }]);
    await clock.advance(1_000);
    await dispatcher.idle();
    expect(signals).toHaveLength(2);
    hanging.open();
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1, dead: 0 });
  });

  test("a running handler's lease is extended, so that no other instance takes its lane", async () => {
    const long = gate();
    const { inbox, dispatcher, clock } = harness(() => long.pass(), { handlerTimeoutMs: 600_000 });
    await inbox.put(messages("1"), "webhook");
    await long.entered;
    for (let i = 0; i < 10; i++) {
      await clock.advance(10_000);
      expect(await inbox.claim(1, 1)).toEqual([]);
    }
    long.open();
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ done: 1 });
  });

  test("a handler whose lease was taken over is aborted, and its result is dropped", async () => {
    const long = gate();
    const reasons: unknown[] = [];
    const { inbox, dispatcher, clock, log } = harness(async (job) => {
      job.signal.addEventListener("abort", () => reasons.push(job.signal.reason));
      await long.pass();
    });
    await inbox.put(messages("1"), "webhook");
    await long.entered;
    const put = inbox.extend.bind(inbox);
    // Another instance takes over the lane, as it would after a pause longer than the lease.
    inbox.extend = async (claims, ms) => (await put(claims, ms)).slice(0, 0);
    await clock.advance(10_000);
    expect(reasons).toMatchObject([{ code: "LEASE_LOST" }]);
    long.open();
    await clock.advance(1_000);
    await dispatcher.idle();
    expect(log.records.at(-1)).toMatchObject({ level: "warn" });
    expect(await inbox.stats()).toMatchObject({ pending: 1, done: 0 });
  });
});

test("leases are checked at once when another process may have taken them, and no longer after the end", async () => {
  const long = gate();
  const reasons: unknown[] = [];
  const { inbox, dispatcher, clock } = harness(async ({ signal }) => {
    signal.addEventListener("abort", () => reasons.push(signal.reason));
    await long.pass();
  });
  let doubt: (() => void) | undefined;
  inbox.onLeasesInDoubt = (listener) => {
    doubt = listener;
    return () => {
      doubt = undefined;
    };
  };
  await inbox.put(messages("1"), "webhook");
  await long.entered;
  inbox.extend = async () => [];
  doubt?.();
  await clock.advance(0);
  expect(reasons).toMatchObject([{ code: "LEASE_LOST" }]);
  long.open();
  await stop(dispatcher, clock);
  expect(doubt).toBeUndefined();
});

test("a lane that is claimed anew while its handler still runs: the older run ends first", async () => {
  const hanging = gate();
  const order: string[] = [];
  const { inbox, dispatcher, clock } = harness(async (job) => {
    order.push(`begin ${job.claim.attempt}`);
    job.signal.addEventListener("abort", () => order.push(`abort ${job.claim.attempt}`));
    if (job.claim.attempt === 1) await hanging.pass();
  });
  await inbox.put(messages("1"), "webhook");
  await hanging.entered;
  // No heartbeat for longer than the lease, as if the process had been suspended.
  inbox.extend = async (claims) => claims;
  await clock.advance(30_000);
  // The aborted handler gets a moment to end, and the new run waits for it.
  expect(order).toEqual(["begin 1", "abort 1"]);
  await clock.advance(1_000);
  await dispatcher.idle();
  expect(order.slice(0, 3)).toEqual(["begin 1", "abort 1", "begin 2"]);
  hanging.open();
});

describe("stopping", () => {
  test("a handler that takes longer than the grace period is aborted and handed back uncounted", async () => {
    const running = gate();
    const { inbox, dispatcher, clock } = harness(() => running.pass());
    await inbox.put(messages("1"), "webhook");
    await running.entered;
    const drained = dispatcher.drain(5_000);
    await clock.advance(5_000);
    await clock.advance(1_000);
    await drained;
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "1", attempt: 1 }]);
  });

  test("what became of an event is not written with patience once the time for the store is over", async () => {
    const running = gate();
    const deadline = new AbortController();
    const { inbox, dispatcher, log } = harness(() => running.pass(), { deadline: deadline.signal });
    await inbox.put(messages("1"), "webhook");
    await running.entered;
    inbox.complete = () => Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "away"));
    const drained = dispatcher.drain(5_000);
    deadline.abort();
    running.open();
    // This resolves although the clock stands still.
    await drained;
    expect(log.records).toContainEqual(
      expect.objectContaining({ level: "error", event: "1", err: expect.anything() }),
    );
  });

  test("the time of running handlers is over when it is, although the store holds up the stop", async () => {
    const running = gate();
    const claiming = gate();
    const { inbox, dispatcher, clock } = harness(() => running.pass());
    await inbox.put(messages("1"), "webhook");
    await running.entered;
    inbox.claim = async () => {
      await claiming.pass();
      return [];
    };
    await inbox.put([message("2", "another")], "webhook");
    await claiming.entered;
    const drained = dispatcher.drain(5_000);
    await clock.advance(5_000);
    claiming.open();
    // Let an aborted handler's grace period pass.
    await clock.advance(1_000);
    await drained;
    expect(await inbox.stats()).toMatchObject({ pending: 2 });
  });

  test("a handler that ends well after an abort is done", async () => {
    const entered = Promise.withResolvers<void>();
    const { inbox, dispatcher, clock } = harness(async ({ signal }) => {
      entered.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    await inbox.put(messages("1"), "webhook");
    await entered.promise;
    const drained = dispatcher.drain(5_000);
    await clock.advance(5_000);
    await drained;
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
  });
});

describe("a store that fails", () => {
  test("claiming goes on once the store is back", async () => {
    const seen: string[] = [];
    const { inbox, dispatcher, clock, log } = harness((job) => seen.push(job.event.id));
    await dispatcher.idle();
    const claim = inbox.claim.bind(inbox);
    inbox.claim = () => Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "disk full"));
    await inbox.put(messages("1"), "webhook");
    await clock.advance(1);
    expect(log.records).toMatchObject([{ level: "error", err: { code: "STORE_UNAVAILABLE" } }]);
    inbox.claim = claim;
    await clock.advance(1_000);
    await dispatcher.idle();
    expect(seen).toEqual(["1"]);
  });

  for (const failures of [1, 8]) {
    test(`an outcome that cannot be written ${failures} times is written once the store is back`, async () => {
      const { inbox, dispatcher, clock } = harness(() => undefined);
      let calls = 0;
      const failing =
        <T>(write: (claim: Claim) => Promise<T>) =>
        (claim: Claim): Promise<T> => {
          calls += 1;
          const full = new ServiceBotError("STORE_UNAVAILABLE", "disk full");
          return calls <= failures ? Promise.reject(full) : write(claim);
        };
      inbox.advance = failing(inbox.advance.bind(inbox));
      inbox.complete = failing(inbox.complete.bind(inbox));
      await inbox.put(messages("1"), "webhook");
      for (let call = 1; call <= failures; call++) {
        await untilTrue(() => calls >= call);
        await clock.advance(5_000);
      }
      await dispatcher.idle();
      expect(calls).toBe(failures + 1);
      expect(await inbox.stats()).toMatchObject({ pending: 0, done: 1 });
      expect((await inbox.admin.show("1")).attempts).toBe(1);
    });
  }
});

async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe("a bot that stops while the observers of a last failure run", () => {
  test("releases the event without its boundary", async () => {
    const observers = gate();
    let boundaries = 0;
    const { inbox, dispatcher, clock } = harness(() => Promise.reject(new Error("broken")), {
      maxAttempts: 1,
      failed: observers.pass,
      boundary: () => ({
        begin: () => {
          boundaries += 1;
          throw new Error("not reached");
        },
      }),
    });
    await inbox.put(messages("1"), "webhook");
    await observers.entered;
    const drained = dispatcher.drain(0);
    await clock.advance(0);
    observers.open();
    await drained;
    expect(boundaries).toBe(0);
    expect(await inbox.stats()).toMatchObject({ pending: 1, dead: 0 });
  });
});

describe("when another instance has the events", () => {
  test("nothing more is claimed, what runs is aborted, and its result does not count", async () => {
    const work = gate();
    const began: string[] = [];
    const reasons: unknown[] = [];
    const { inbox, dispatcher, clock } = harness(async (job) => {
      began.push(job.event.id);
      job.signal.addEventListener("abort", () => reasons.push(job.signal.reason));
      await work.pass();
    });
    await inbox.put(messages("1", "2"), "webhook");
    await work.entered;
    dispatcher.abandon();
    expect(reasons).toMatchObject([{ code: "LEASE_LOST" }]);
    let claims = 0;
    const claim = inbox.claim.bind(inbox);
    inbox.claim = (...values) => {
      claims += 1;
      return claim(...values);
    };
    await inbox.put([message("3", "other")], "webhook");
    await clock.advance(1_000);
    expect(claims).toBe(0);
    work.open();
    await stop(dispatcher, clock);
    expect(began).toEqual(["1"]);
    expect(await inbox.stats()).toMatchObject({ pending: 3, done: 0 });
  });

  test("a claim that is under way then does not run", async () => {
    const claimed = gate();
    const began: string[] = [];
    const { inbox, dispatcher, clock } = harness((job) => began.push(job.event.id));
    const claim = inbox.claim.bind(inbox);
    inbox.claim = async (...values) => {
      const claims = await claim(...values);
      if (claims.length > 0) await claimed.pass();
      return claims;
    };
    await inbox.put(messages("1"), "webhook");
    await claimed.entered;
    dispatcher.abandon();
    claimed.open();
    await stop(dispatcher, clock);
    expect(began).toEqual([]);
    expect(await inbox.stats()).toMatchObject({ pending: 1 });
  });

  test("the next event of a lane, which is under way then, does not run", async () => {
    const advanced = gate();
    const began: string[] = [];
    const { inbox, dispatcher, clock, log } = harness((job) => began.push(job.event.id));
    const advance = inbox.advance.bind(inbox);
    inbox.advance = async (claim) => {
      const next = await advance(claim);
      await advanced.pass();
      return next;
    };
    await inbox.put(messages("1", "2"), "webhook");
    await advanced.entered;
    dispatcher.abandon();
    advanced.open();
    await stop(dispatcher, clock);
    expect(began).toEqual(["1"]);
    // A lost lease logs a warning. A released event would log a line at level info.
    const lines = log.records.filter(({ event }) => event === "2");
    expect(lines.map(({ level }) => level)).toEqual(["warn"]);
  });
});
