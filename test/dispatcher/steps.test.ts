import { beforeEach, describe, expect, test } from "vitest";
import type { Effect, OpenIntent, Step } from "../../src/core/step.ts";
import { DurableSteps } from "../../src/dispatcher/steps.ts";
import { ApiError, NetworkError, ServiceBotError } from "../../src/errors.ts";
import type { Claim } from "../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { ManualClock } from "../../src/testing/manual-clock.ts";
import { first } from "../support/first.ts";
import { messages } from "../support/inbox-events.ts";

const LEASE = 30_000;
const IN_FLIGHT = 11_000;

let clock: ManualClock;
let inbox: SqliteInbox;
/** The claim of the newest run. */
let claim: Claim;
/** What the platform has: the texts that were really sent, by id. */
let platform: Map<string, string>;

beforeEach(async () => {
  clock = new ManualClock(1_800_000_000_000);
  inbox = new SqliteInbox({ file: ":memory:", clock });
  platform = new Map();
  await inbox.put(messages("1"), "webhook");
});

/** Begins a run of the handler: as a new process does once the lease of the one before has run out. */
async function begin(signal: AbortSignal = new AbortController().signal): Promise<DurableSteps> {
  await clock.advance(LEASE);
  claim = first(await inbox.claim(1, LEASE));
  return new DurableSteps({ inbox, claim, clock, signal });
}

function send(text: string): Effect<string> {
  const id = `m_${platform.size + 1}`;
  platform.set(id, text);
  return { result: id, ref: id };
}

async function find({ request, claimed }: OpenIntent): Promise<Effect<string> | undefined> {
  const same = [...platform].filter(([, text]) => text === request).map(([id]) => id);
  const taken = await claimed(same);
  const id = same.find((candidate) => !taken.has(candidate));
  return id === undefined ? undefined : { result: id, ref: id };
}

/** A reply with this text that sends and is found as the real ones are. */
function reply(name: string, text: string, overrides: Partial<Step<string>> = {}): Step<string> {
  return {
    name,
    request: text,
    run: async () => send(text),
    find,
    inFlightMs: IN_FLIGHT,
    repeatable: false,
    ...overrides,
  };
}

/** A step that never returns: the process dies in it, after the effect or before. */
const died = { run: () => new Promise<never>(() => undefined) };
const diedAfterSending = (text: string) => ({
  run: () => {
    send(text);
    return new Promise<never>(() => undefined);
  },
});

/** Lets a step get as far as its effect. */
const underWay = () => clock.advance(0);

describe("a step", () => {
  test("runs, and gives its result to later runs without running again", async () => {
    expect(await (await begin()).run(reply("reply/1", "hi"))).toBe("m_1");
    expect(await (await begin()).run(reply("reply/1", "hi"))).toBe("m_1");
    expect(platform.size).toBe(1);
  });

  test("keeps its result even when the retried handler would say something else", async () => {
    await (await begin()).run(reply("reply/1", "hi"));
    expect(await (await begin()).run(reply("reply/1", "other words"))).toBe("m_1");
    expect([...platform.values()]).toEqual(["hi"]);
  });

  test("without a result gives none again", async () => {
    const step: Step<undefined> = {
      name: "step/x",
      request: "",
      run: async () => ({ result: undefined }),
      inFlightMs: 0,
      repeatable: false,
    };
    expect(await (await begin()).run(step)).toBeUndefined();
    expect(await (await begin()).run(step)).toBeUndefined();
  });

  test("records its intent before its effect", async () => {
    const steps = await begin();
    let intent: unknown;
    const run = async () => {
      intent = await inbox.beginStep(claim, "reply/1", "");
      return send("hi");
    };
    await steps.run(reply("reply/1", "hi", { run }));
    expect(intent).toMatchObject({ state: "open", request: "hi" });
  });

  test("of a name that ran already in this handler is refused", async () => {
    const steps = await begin();
    await steps.run(reply("step/charge", "a"));
    await expect(steps.run(reply("step/charge", "b"))).rejects.toMatchObject({
      code: "STEP_DUPLICATE",
      message: expect.stringContaining('"charge"'),
    });
  });

  test("is not begun any more once the run was aborted", async () => {
    const abort = new AbortController();
    const steps = await begin(abort.signal);
    abort.abort(new ServiceBotError("HANDLER_TIMEOUT", "too long"));
    await expect(steps.run(reply("reply/1", "hi"))).rejects.toMatchObject({
      code: "HANDLER_TIMEOUT",
    });
    expect(platform.size).toBe(0);
  });

  test("is not begun once the lease is lost", async () => {
    const lost = await begin();
    await begin();
    await expect(lost.run(reply("reply/1", "hi"))).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(platform.size).toBe(0);
  });
});

describe("after the process died inside a step", () => {
  test("before the effect, the next run makes it", async () => {
    void (await begin()).run(reply("reply/1", "hi", died));
    await underWay();
    expect(await (await begin()).run(reply("reply/1", "hi"))).toBe("m_1");
    expect(platform.size).toBe(1);
  });

  test("after the effect, the next run finds it and does not make it again", async () => {
    void (await begin()).run(reply("reply/1", "hi", diedAfterSending("hi")));
    await underWay();
    expect(platform.size).toBe(1);
    expect(await (await begin()).run(reply("reply/1", "hi"))).toBe("m_1");
    expect(platform.size).toBe(1);
  });

  test("what was said is looked for, not what would be said now", async () => {
    void (await begin()).run(reply("reply/1", "hi", diedAfterSending("hi")));
    await underWay();
    expect(await (await begin()).run(reply("reply/1", "other words"))).toBe("m_1");
    expect([...platform.values()]).toEqual(["hi"]);
  });

  test("a message of another step with the same text is not taken for it", async () => {
    const steps = await begin();
    await steps.run(reply("reply/1", "hi"));
    void steps.run(reply("reply/2", "hi", died));
    await underWay();
    const again = await begin();
    expect(await again.run(reply("reply/1", "hi"))).toBe("m_1");
    expect(await again.run(reply("reply/2", "hi"))).toBe("m_2");
    expect([...platform.values()]).toEqual(["hi", "hi"]);
  });

  test("two open replies with one text do not both take the message that is there", async () => {
    const steps = await begin();
    void steps.run(reply("reply/1", "hi", diedAfterSending("hi")));
    void steps.run(reply("reply/2", "hi", died));
    await underWay();
    const again = await begin();
    const results = await Promise.all([
      again.run(reply("reply/1", "hi")),
      again.run(reply("reply/2", "hi")),
    ]);
    expect(new Set(results).size).toBe(2);
    expect(platform.size).toBe(2);
  });

  test("the search waits until the call cannot be under way any more", async () => {
    const steps = await begin();
    void steps.run(reply("reply/1", "hi", died));
    await underWay();
    const next = await handOver();
    let searched = false;
    const running = next.run(
      reply("reply/1", "hi", {
        find: async (intent) => {
          searched = true;
          return await find(intent);
        },
      }),
    );
    await clock.advance(IN_FLIGHT - 1);
    expect(searched).toBe(false);
    await clock.advance(1);
    await running;
    expect(searched).toBe(true);
  });

  test("the wait ends when the run is aborted", async () => {
    void (await begin()).run(reply("reply/1", "hi", died));
    await underWay();
    const abort = new AbortController();
    const steps = await handOver(abort.signal);
    const running = steps.run(reply("reply/1", "hi"));
    const refused = expect(running).rejects.toMatchObject({ code: "HANDLER_TIMEOUT" });
    await underWay();
    abort.abort(new ServiceBotError("HANDLER_TIMEOUT", "too long"));
    await refused;
    expect(platform.size).toBe(0);
  });

  test("a step that cannot be looked for is uncertain, for a person to decide", async () => {
    const step: Step<number> = {
      name: "step/charge",
      request: "",
      run: () => new Promise<never>(() => undefined),
      inFlightMs: 0,
      repeatable: false,
    };
    void (await begin()).run(step);
    await underWay();
    await expect((await begin()).run(step)).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
      message: expect.stringMatching(/"charge".*inbox retry 1 --assume done.*--assume absent/),
    });
  });

  test("a step that a person has settled as done gives nothing, and is not made again", async () => {
    void (await begin()).run(reply("reply/1", "hi", died));
    await underWay();
    await inbox.bury(claim, "STEP_UNCERTAIN");
    await inbox.admin.retry(claim.id, { assume: "done" });
    expect(await (await begin()).run(reply("reply/1", "hi"))).toBeUndefined();
    expect(platform.size).toBe(0);
  });

  test("a repeatable step is simply run again", async () => {
    const step: Step<number> = {
      name: "step/think",
      request: "",
      run: async () => ({ result: 42 }),
      inFlightMs: 0,
      repeatable: true,
    };
    void (await begin()).run({ ...step, run: () => new Promise<never>(() => undefined) });
    await underWay();
    expect(await (await begin()).run(step)).toBe(42);
  });
});

describe("after an effect that failed", () => {
  const failures = {
    "a refusal by the platform": [new ApiError("no", { status: 400 }), false],
    "a rate limit": [new ApiError("slow", { status: 429 }), false],
    "no connection": [new NetworkError("API_UNREACHABLE", "down", { sent: false }), false],
    "an error of the handler's own": [new Error("boom"), false],
    "a server error": [new ApiError("oops", { status: 500 }), true],
    "a connection that broke": [new NetworkError("API_UNREACHABLE", "reset", { sent: true }), true],
    "no answer in time": [new NetworkError("API_TIMEOUT", "slow", { sent: true }), true],
    "an answer that cannot be read": [new ServiceBotError("API_INVALID_RESPONSE", "?"), true],
  } as const;

  for (const [name, [error, mayHaveHappened]] of Object.entries(failures)) {
    const consequence = mayHaveHappened ? "looks for it first" : "makes it without a search";
    test(`by ${name}, the next run ${consequence}`, async () => {
      const failing = reply("reply/1", "hi", { run: () => Promise.reject(error) });
      await expect((await begin()).run(failing)).rejects.toBe(error);
      let searched = false;
      const again = reply("reply/1", "hi", {
        find: async (intent) => {
          searched = true;
          return await find(intent);
        },
      });
      expect(await (await begin()).run(again)).toBe("m_1");
      expect(searched).toBe(mayHaveHappened);
    });
  }
});

test("an effect that was aborted under way is looked for by the next run", async () => {
  const abort = new AbortController();
  const reason = new ServiceBotError("HANDLER_TIMEOUT", "too long");
  const steps = await begin(abort.signal);
  // As the client does: it sends, and then gives up because of the signal.
  const run = async () => {
    send("hi");
    abort.abort(reason);
    throw reason;
  };
  await expect(steps.run(reply("reply/1", "hi", { run }))).rejects.toBe(reason);
  expect(await (await begin()).run(reply("reply/1", "hi"))).toBe("m_1");
  expect(platform.size).toBe(1);
});

/** Hands the event back as a stopping process does, and begins the next run at once. */
async function handOver(signal: AbortSignal = new AbortController().signal): Promise<DurableSteps> {
  await inbox.release(claim, 0);
  claim = first(await inbox.claim(1, LEASE));
  return new DurableSteps({ inbox, claim, clock, signal });
}

test("a result that is no longer good is made again, and lives on", async () => {
  let runs = 0;
  const upload: Step<string> = {
    name: "upload/1",
    request: "",
    run: async () => ({ result: `key ${++runs}` }),
    inFlightMs: 0,
    repeatable: true,
    validForMs: LEASE * 2,
  };
  const steps = [];
  for (let i = 0; i < 5; i++) steps.push(await (await begin()).run(upload));
  expect(steps).toEqual(["key 1", "key 1", "key 2", "key 2", "key 3"]);
});
