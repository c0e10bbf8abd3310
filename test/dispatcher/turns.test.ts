import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import type { Advance } from "../faces/inbox.ts";
import type { SqliteInbox } from "../faces/inbox-sqlite.ts";
import type { Job } from "../faces/steps.ts";
import { message, messages } from "../support/inbox-events.ts";
import { gate, harness } from "./harness.ts";

/** Creates a harness whose handlers wait at their gates. Event numbers start at 1. */
function gated(events: number, options: Parameters<typeof harness>[1] = {}) {
  const gates = Array.from({ length: events + 1 }, gate);
  const seen: string[] = [];
  const jobs: Job[] = [];
  const made = harness(async (job) => {
    seen.push(job.event.id);
    jobs.push(job);
    await gates[Number(job.event.id)]?.pass();
  }, options);
  const claimed: string[] = [];
  const { inbox, clock } = made;
  const claim = inbox.claim.bind(inbox);
  inbox.claim = async (...args) => {
    const claims = await claim(...args);
    claimed.push(...claims.map(({ id }) => id));
    return claims;
  };
  return {
    ...made,
    seen,
    jobs,
    claimed,
    entered: (n: number) => gates[n]?.entered,
    open: (...list: readonly number[]) => {
      for (const n of list) gates[n]?.open();
    },
    /** Waits until the event's handler is running, and lets it take `ms`. */
    takes: async (n: number, ms: number) => {
      await gates[n]?.entered;
      await clock.advance(ms);
      gates[n]?.open();
    },
  };
}

/** Makes heartbeats and ends of runs fail while `isAway` returns true. Returns the ends that succeed. */
function interruptStore(inbox: SqliteInbox, isAway: () => boolean): readonly string[] {
  const ends: string[] = [];
  const unlessAway = <T>(write: () => Promise<T>): Promise<T> =>
    isAway() ? Promise.reject(new ServiceBotError("STORE_UNAVAILABLE", "disk full")) : write();
  const end = <T>(name: string, write: () => Promise<T>): Promise<T> =>
    unlessAway(() => {
      ends.push(name);
      return write();
    });
  const [advance, complete] = [inbox.advance.bind(inbox), inbox.complete.bind(inbox)];
  const extend = inbox.extend.bind(inbox);
  inbox.advance = (claim) => end("advance", () => advance(claim));
  inbox.complete = (claim) => end("complete", () => complete(claim));
  inbox.extend = (...args) => unlessAway(() => extend(...args));
  return ends;
}

/** Holds back the result of the next advance, which has already been written, until the test opens the gate. */
function holdAdvance(inbox: SqliteInbox): ReturnType<typeof gate> {
  const held = gate();
  const advance = inbox.advance.bind(inbox);
  inbox.advance = async (...args): Promise<Advance> => {
    inbox.advance = advance;
    const result = await advance(...args);
    await held.pass();
    return result;
  };
  return held;
}

/** Puts two events in one lane. The first is done, and the lane is advancing to the second. */
async function goingOn(made: ReturnType<typeof gated>): Promise<ReturnType<typeof gate>> {
  const held = holdAdvance(made.inbox);
  await made.inbox.put(messages("1", "2"), "webhook");
  await made.entered(1);
  made.open(1);
  await held.entered;
  return held;
}

describe("a lane goes on by itself", () => {
  test("while there are free places", async () => {
    const { inbox, dispatcher, seen, claimed, open } = gated(5);
    open(1, 2, 3, 4, 5);
    await inbox.put(messages("1", "2", "3", "4", "5"), "webhook");
    await dispatcher.idle();
    expect(seen).toEqual(["1", "2", "3", "4", "5"]);
    expect(claimed).toEqual(["1"]);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 5 });
  });

  test("a lane yields to another after 250 ms if all places are taken", async () => {
    const { inbox, dispatcher, seen, takes, entered, open } = gated(5, { concurrency: 1 });
    await inbox.put(
      [...["1", "2", "3", "4"].map((id) => message(id, "a")), message("5", "b")],
      "webhook",
    );
    await takes(1, 124);
    await takes(2, 125);
    // One millisecond is left, so the lane may advance once more.
    await takes(3, 1);
    await Promise.race([entered(4), entered(5)]);
    expect(seen).toEqual(["1", "2", "3", "5"]);
    open(4, 5);
    await dispatcher.idle();
    expect(seen).toEqual(["1", "2", "3", "5", "4"]);
  });

  test("for no more than a third of its lease, however many places are free", async () => {
    const { inbox, dispatcher, seen, claimed, takes } = gated(5, { leaseMs: 3_000 });
    await inbox.put(messages("1", "2", "3", "4", "5"), "webhook");
    for (const n of [1, 2, 3, 4, 5]) await takes(n, 333);
    await dispatcher.idle();
    expect(seen).toEqual(["1", "2", "3", "4", "5"]);
    // The first four events take more than a second.
    expect(claimed).toEqual(["1", "5"]);
  });

  test("but not on the rest of its lease, after an outage of the store", async () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.4);
    onTestFinished(() => random.mockRestore());
    const { inbox, clock, dispatcher, jobs, claimed, takes } = gated(2);
    const start = clock.now();
    const ends = interruptStore(inbox, () => {
      const ms = clock.now() - start;
      return ms >= 1_000 && ms < 29_300;
    });
    await inbox.put(messages("1", "2"), "webhook");
    await takes(1, 2_000);
    // One retry comes just as the lease ends.
    await clock.advance(27_700);
    await takes(2, 3_000);
    await dispatcher.idle();
    expect(ends).toEqual(["complete", "advance"]);
    expect(claimed).toEqual(["1", "2"]);
    expect(jobs.map(({ event, claim: { attempt } }) => `${event.id}#${attempt}`)).toEqual([
      "1#1",
      "2#1",
    ]);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 2 });
  });

  test("not after an event that failed", async () => {
    const claimed: string[] = [];
    const { inbox, dispatcher } = harness(({ event }) => {
      claimed.push(event.id);
      if (event.id === "1") throw new Error("boom");
    });
    await inbox.put(messages("1", "2"), "webhook");
    await dispatcher.idle();
    expect(claimed).toEqual(["1"]);
    expect(await inbox.stats()).toMatchObject({ pending: 2 });
  });
});

describe("each event that a lane goes on with", () => {
  test("has its own time limit and signal", async () => {
    const { inbox, clock, dispatcher, jobs, takes, entered, open } = gated(2, {
      handlerTimeoutMs: 1_000,
    });
    await inbox.put(messages("1", "2"), "webhook");
    await entered(1);
    const [one] = jobs.map(({ signal }) => signal);
    await takes(1, 999);
    await entered(2);
    await clock.advance(999);
    const two = jobs[1]?.signal;
    expect([one?.aborted, two?.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect([one?.aborted, two?.aborted]).toEqual([false, true]);
    expect(two?.reason).toMatchObject({ code: "HANDLER_TIMEOUT" });
    open(2);
    await clock.advance(1_000);
    await dispatcher.idle();
  });

  test("has an aborted signal also where it asks for it only after that", async () => {
    const { inbox, clock, jobs, takes, entered, open } = gated(2, { handlerTimeoutMs: 1_000 });
    await inbox.put(messages("1", "2"), "webhook");
    await takes(1, 1);
    await entered(2);
    await clock.advance(1_000);
    const signal = jobs[1]?.signal;
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "HANDLER_TIMEOUT" });
    expect(jobs[1]?.signal).toBe(signal);
    expect(jobs[0]?.signal.aborted).toBe(false);
    open(2);
  });

  test("is not aborted by a sign of life of the one before it, whose answer comes late", async () => {
    const { inbox, clock, dispatcher, jobs, entered, open } = gated(2);
    const extending = gate();
    const extend = inbox.extend.bind(inbox);
    inbox.extend = async (...args) => {
      await extending.pass();
      return await extend(...args);
    };
    await clock.advance(5_000);
    await inbox.put(messages("1", "2"), "webhook");
    await entered(1);
    await clock.advance(5_000);
    await extending.entered;
    open(1);
    await entered(2);
    extending.open();
    await clock.advance(1);
    expect(jobs.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    open(2);
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 2 });
  });

  test("is not aborted by a sign of life that came while its lane went on", async () => {
    const made = gated(2);
    const { inbox, clock, dispatcher, jobs, entered, open } = made;
    await clock.advance(5_000);
    const held = await goingOn(made);
    await clock.advance(5_000);
    held.open();
    await entered(2);
    expect(jobs[1]?.signal.aborted).toBe(false);
    open(2);
    await dispatcher.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 2 });
  });
});

describe("in the moment in which a lane goes on", () => {
  test("the bot stops: the next event is handed back at once, and has no attempt", async () => {
    const made = gated(2);
    const { inbox, dispatcher, seen } = made;
    const held = await goingOn(made);
    const drained = dispatcher.drain(5_000);
    held.open();
    // This resolves although the clock stands still.
    await drained;
    expect(seen).toEqual(["1"]);
    expect(await inbox.admin.show("2")).toMatchObject({ attempts: 0, history: [] });
    expect(made.failures).toEqual([]);
    expect(made.log.records.filter(({ event }) => event === "2")).toMatchObject([
      { level: "info" },
    ]);
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
  });

  test("the bot stops: so is the event of another lane", async () => {
    const made = gated(2, { concurrency: 1 });
    const { inbox, dispatcher, seen } = made;
    const held = holdAdvance(inbox);
    await inbox.put([message("1", "a"), message("2", "b")], "webhook");
    await made.entered(1);
    made.open(1);
    await held.entered;
    const drained = dispatcher.drain(5_000);
    held.open();
    await drained;
    expect(dispatcher.running).toBe(0);
    expect(seen).toEqual(["1"]);
    expect(await inbox.claim(1, 1_000)).toMatchObject([{ id: "2", attempt: 1, crashes: 0 }]);
  });

  test("its lease runs out: the run that has it then is the only one of the next event", async () => {
    const made = gated(2);
    const { inbox, clock, dispatcher, seen, entered, open } = made;
    const held = await goingOn(made);
    // No heartbeat for longer than the lease, as if the process had been suspended.
    inbox.extend = async (claims) => claims;
    await clock.advance(30_000);
    expect(made.claimed).toEqual(["1", "2"]);
    expect(seen).toEqual(["1"]);
    held.open();
    await entered(2);
    expect(made.jobs[1]).toMatchObject({ claim: { attempt: 2 } });
    open(2);
    await dispatcher.idle();
    expect(seen).toEqual(["1", "2"]);
    expect(await inbox.stats()).toMatchObject({ pending: 0, done: 2 });
  });

  test("the store fails, and the bot stops: the event is done, and the next one is not touched", async () => {
    const { inbox, clock, dispatcher, seen, open } = gated(2);
    const failing = gate();
    inbox.advance = async () => {
      void failing.pass();
      throw new ServiceBotError("STORE_UNAVAILABLE", "disk full");
    };
    open(1, 2);
    await inbox.put(messages("1", "2"), "webhook");
    await failing.entered;
    const drained = dispatcher.drain(60_000);
    await clock.advance(5_000);
    await drained;
    expect(seen).toEqual(["1"]);
    expect(await inbox.stats()).toMatchObject({ pending: 1, done: 1 });
    expect(await inbox.admin.show("2")).toMatchObject({ attempts: 0, history: [] });
  });
});

test("what got less than it asked for claims nothing more until there is something", async () => {
  const { inbox, entered, open, dispatcher } = gated(2);
  let claims = 0;
  const claim = inbox.claim.bind(inbox);
  inbox.claim = (...args) => {
    claims += 1;
    return claim(...args);
  };
  const settled = async () => {
    for (let n = 0; n < 3; n++) await inbox.heal();
  };
  await inbox.put([message("1", "one")], "webhook");
  await entered(1);
  await settled();
  expect(claims).toBe(1);
  await inbox.put([message("2", "two")], "webhook");
  await entered(2);
  await settled();
  expect(claims).toBe(2);
  open(1, 2);
  await dispatcher.idle();
});
