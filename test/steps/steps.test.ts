import { beforeEach, describe, expect, test } from "vitest";
import { ApiError, NetworkError } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import type { Intent, Step } from "../faces/steps.ts";
import { died, IN_FLIGHT, LEASE, nothing, StepWorld } from "./step-world.ts";

const postponed = { code: "RETRY_LATER", counts: false };

let world: StepWorld;

beforeEach(async () => {
  world = new StepWorld();
  await world.put();
});

describe("a step", () => {
  test("a step runs once and returns its result to later runs", async () => {
    expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(world.platform.size).toBe(1);
  });

  test("keeps its result even if the retried handler's text differs", async () => {
    await (await world.begin()).run(world.reply("reply/1", "hi"));
    expect(await (await world.begin()).run(world.reply("reply/1", "other words"))).toBe("m_1");
    expect([...world.platform.values()]).toEqual(["hi"]);
  });

  test("without a result gives none again", async () => {
    const step: Step<undefined> = {
      name: "step/x",
      run: async () => ({ result: undefined }),
      repeatable: false,
    };
    expect(await (await world.begin()).run(step)).toBeUndefined();
    expect(await (await world.begin()).run(step)).toBeUndefined();
  });

  test("a step records its intent before its effect", async () => {
    const steps = await world.begin();
    let intent: unknown;
    const run = async () => {
      intent = await world.inbox.beginStep(world.claim, "reply/1", "");
      return world.send("hi");
    };
    await steps.run(world.reply("reply/1", "hi", { run }));
    expect(intent).toMatchObject({ state: "open", request: "hi" });
  });

  test("of a name that ran already in this handler is refused", async () => {
    const steps = await world.begin();
    await steps.run(world.reply("step/charge", "a"));
    await expect(steps.run(world.reply("step/charge", "b"))).rejects.toMatchObject({
      code: "STEP_DUPLICATE",
      message: expect.stringContaining('"charge"'),
    });
  });

  test("does not begin once the run was aborted", async () => {
    const abort = new AbortController();
    const steps = await world.begin(abort.signal);
    abort.abort(new ServiceBotError("HANDLER_TIMEOUT", "too long"));
    await expect(steps.run(world.reply("reply/1", "hi"))).rejects.toMatchObject({
      code: "HANDLER_TIMEOUT",
    });
    expect(world.platform.size).toBe(0);
  });

  test("is not begun once the lease is lost", async () => {
    const lost = await world.begin();
    await world.begin();
    await expect(lost.run(world.reply("reply/1", "hi"))).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
    expect(world.platform.size).toBe(0);
  });
});

describe("after the process died inside a step", () => {
  test("before the effect, the next run makes it", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(world.platform.size).toBe(1);
  });

  test("after the effect, the next run finds it and does not repeat it", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", world.diedAfterSending("hi")));
    await world.underWay();
    expect(world.platform.size).toBe(1);
    expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(world.platform.size).toBe(1);
  });

  test("the effect is looked for from the time of the intent on", async () => {
    const steps = await world.begin();
    const begunAt = world.clock.now();
    void steps.run(world.reply("reply/1", "hi", died));
    await world.underWay();
    const intents: Intent[] = [];
    const find = async (intent: Intent) => {
      intents.push(intent);
      return nothing;
    };
    await (await world.begin()).run(world.reply("reply/1", "hi", { find }));
    expect(world.clock.now()).toBeGreaterThan(begunAt);
    expect(intents).toMatchObject([{ request: "hi", startedAt: begunAt }]);
  });

  test("the recorded text is searched for, not the present one", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", world.diedAfterSending("hi")));
    await world.underWay();
    expect(await (await world.begin()).run(world.reply("reply/1", "other words"))).toBe("m_1");
    expect([...world.platform.values()]).toEqual(["hi"]);
  });

  test("a message that belongs to another step is not adopted", async () => {
    const steps = await world.begin();
    await steps.run(world.reply("reply/1", "hi"));
    void steps.run(world.reply("reply/2", "hi", died));
    await world.underWay();
    const again = await world.begin();
    expect(await again.run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(await again.run(world.reply("reply/2", "hi"))).toBe("m_2");
    expect([...world.platform.values()]).toEqual(["hi", "hi"]);
  });

  test("two open replies with one text do not both take the message that is there", async () => {
    const steps = await world.begin();
    void steps.run(world.reply("reply/1", "hi", world.diedAfterSending("hi")));
    void steps.run(world.reply("reply/2", "hi", died));
    await world.underWay();
    const again = await world.begin();
    const results = await Promise.all([
      again.run(world.reply("reply/1", "hi")),
      again.run(world.reply("reply/2", "hi")),
    ]);
    expect(new Set(results).size).toBe(2);
    expect(world.platform.size).toBe(2);
  });

  test("and died again after trying anew, the search waits for the newer call", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    void (await world.begin()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    const next = await world.handOver();
    await expect(next.run(world.reply("reply/1", "hi"))).rejects.toMatchObject(postponed);
    expect(world.platform.size).toBe(0);
  });

  test("the wait is never longer than a call takes, also when the clock was set back", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    const { clock } = world;
    const setBack = { now: () => clock.now() - 3_600_000, timer: clock.timer.bind(clock) };
    const process = world.newProcess({ clock: setBack });
    const next = () => world.runOf(world.claim, { process });
    await expect(next().run(world.reply("reply/1", "hi"))).rejects.toMatchObject(postponed);
    await clock.advance(IN_FLIGHT - 1);
    await expect(next().run(world.reply("reply/1", "hi"))).rejects.toMatchObject({ delayMs: 1 });
    await clock.advance(1);
    expect(await next().run(world.reply("reply/1", "hi"))).toBe("m_1");
  });

  test("a step that cannot be searched for is uncertain, and an operator must decide", async () => {
    const step: Step<number> = {
      name: "step/charge",
      run: () => new Promise<never>(() => undefined),
      repeatable: false,
    };
    void (await world.begin()).run(step);
    await world.underWay();
    await expect((await world.begin()).run(step)).rejects.toMatchObject({
      code: "STEP_UNCERTAIN",
      message: expect.stringMatching(
        /The previous run ended during.*"charge".*inbox retry 1 --assume done.*--assume absent/,
      ),
    });
  });

  test("a step that an operator has settled as done returns nothing and does not run again", async () => {
    void (await world.begin()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    await world.inbox.bury(world.claim, "STEP_UNCERTAIN");
    await world.inbox.admin.retry(world.claim.id, { assume: "done" });
    expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBeUndefined();
    expect(world.platform.size).toBe(0);
  });

  test("a repeatable step is simply run again", async () => {
    const step: Step<number> = {
      name: "step/think",
      run: async () => ({ result: 42 }),
      repeatable: true,
    };
    void (await world.begin()).run({ ...step, run: () => new Promise<never>(() => undefined) });
    await world.underWay();
    expect(await (await world.begin()).run(step)).toBe(42);
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
      const failing = world.reply("reply/1", "hi", { run: () => Promise.reject(error) });
      await expect((await world.begin()).run(failing)).rejects.toBe(error);
      let searched = false;
      const again = world.reply("reply/1", "hi", {
        find: async (intent) => {
          searched = true;
          return await world.find(intent);
        },
      });
      expect(await (await world.begin()).run(again)).toBe("m_1");
      expect(searched).toBe(mayHaveHappened);
    });
  }
});

test("an effect that was aborted under way is looked for by the next run", async () => {
  const abort = new AbortController();
  const reason = new ServiceBotError("HANDLER_TIMEOUT", "too long");
  const steps = await world.begin(abort.signal);
  // Like the client, sends first and then rejects because of the signal.
  const run = async () => {
    world.send("hi");
    abort.abort(reason);
    throw reason;
  };
  await expect(steps.run(world.reply("reply/1", "hi", { run }))).rejects.toBe(reason);
  expect(await (await world.begin()).run(world.reply("reply/1", "hi"))).toBe("m_1");
  expect(world.platform.size).toBe(1);
});

test("a result that is no longer good is made again, and lives on", async () => {
  let runs = 0;
  const upload: Step<string> = {
    name: "upload/1",
    run: async () => ({ result: `key ${++runs}` }),
    repeatable: true,
    validForMs: LEASE * 2,
  };
  const steps = [];
  for (let i = 0; i < 5; i++) steps.push(await (await world.begin()).run(upload));
  expect(steps).toEqual(["key 1", "key 1", "key 2", "key 2", "key 3"]);
});
