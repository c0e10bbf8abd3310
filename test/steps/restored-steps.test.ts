import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../faces/client.ts";
import { ServiceBotError } from "../faces/errors.ts";
import { RESTORED, writeRestoreMark } from "../faces/inbox.ts";
import type { Intent, LostRun, Step, Steps } from "../faces/steps.ts";
import { died, IN_FLIGHT, LEASE, nothing, type Run, StepWorld } from "./step-world.ts";

let world: StepWorld;
let lostRun: LostRun | undefined;

/** An hour after the restore, when no request from before it can still be in flight. */
const longAgo: LostRun = {
  eventAt: 1_799_999_000_000,
  endedMsAgo: 3_600_000,
};

beforeEach(async () => {
  world = new StepWorld();
  lostRun = longAgo;
  process = restored();
  await world.put();
  const position = writeRestoreMark({ at: world.clock.now() });
  await world.inbox.put([], "poll", [{ name: RESTORED, position }]);
});

let process: Steps;

const restored = () => world.newProcess({ restore: { lostRunOf: () => lostRun } });

/** Runs the next event, which may have been handled before the restore. */
async function run(): Promise<Run> {
  await world.next();
  return inDoubt();
}

function inDoubt(): Run {
  return world.runOf(world.claim, { process });
}

async function again(): Promise<Run> {
  await world.clock.advance(LEASE);
  await world.begin();
  process = restored();
  return inDoubt();
}

describe("a reply that is new to a restored inbox", () => {
  test("a restored step first searches for its message, and adopts it if it was sent", async () => {
    world.send("hi");
    expect(await (await run()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(world.platform.size).toBe(1);
    expect(await world.inbox.claimedRefs(["m_1"])).toEqual(new Set(["m_1"]));
  });

  test("is sent when it was not", async () => {
    expect(await (await run()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect([...world.platform.values()]).toEqual(["hi"]);
  });

  test("is sent at once where nothing is in doubt", async () => {
    world.send("hi");
    lostRun = undefined;
    expect(await (await run()).run(world.reply("reply/1", "hi"))).toBe("m_2");
  });

  test("is looked for from the time of the event on, not of the intent", async () => {
    const intents: Intent[] = [];
    const find = async (intent: Intent) => {
      intents.push(intent);
      return nothing;
    };
    await (await run()).run(world.reply("reply/1", "hi", { find }));
    expect(intents).toMatchObject([{ request: "hi", lostRun: { eventAt: longAgo.eventAt } }]);
  });

  test("of several events with one text takes the one that is its own, in their order", async () => {
    await world.inbox.put(
      ["2", "3"].map((id) => ({ id, type: "x", lane: "lane", ord: id, body: "{}" })),
      "poll",
    );
    for (const text of ["hi", "hi"]) world.send(text);
    const results: string[] = [];
    for (let n = 1; n <= 3; n++) {
      const steps = await run();
      results.push(await steps.run(world.reply("reply/1", "hi")));
      await world.inbox.complete(world.claim);
    }
    expect(results).toEqual(["m_1", "m_2", "m_3"]);
  });

  test("two in one handler with one text take one each", async () => {
    for (const text of ["hi", "hi"]) world.send(text);
    const steps = await run();
    expect(await steps.run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(await steps.run(world.reply("reply/2", "hi"))).toBe("m_2");
    expect(world.platform.size).toBe(2);
  });

  test("is still looked for that far back when the process dies before it has looked", async () => {
    world.send("hi");
    const stuck = { find: () => new Promise<never>(() => undefined) };
    void (await run()).run(world.reply("reply/1", "hi", stuck));
    await world.underWay();
    const found: unknown[] = [];
    const find = (intent: Intent) => {
      found.push(intent.lostRun?.eventAt);
      return world.find(intent);
    };
    expect(await (await again()).run(world.reply("reply/1", "hi", { find }))).toBe("m_1");
    expect(found).toEqual([longAgo.eventAt]);
    expect(world.platform.size).toBe(1);
  });

  test("that the process died in after sending it is found, as ever", async () => {
    void (await run()).run(world.reply("reply/1", "hi", world.diedAfterSending("hi")));
    await world.underWay();
    expect(await (await again()).run(world.reply("reply/1", "hi"))).toBe("m_1");
    expect(world.platform.size).toBe(1);
  });

  test("waits until the call of the lost process can no longer be under way, once", async () => {
    lostRun = { ...longAgo, endedMsAgo: 1_000 };
    const steps = await run();
    await expect(steps.run(world.reply("reply/1", "hi"))).rejects.toMatchObject({
      code: "RETRY_LATER",
      counts: false,
    });
    await world.clock.advance(IN_FLIGHT - 1_001);
    await expect(inDoubt().run(world.reply("reply/1", "hi"))).rejects.toMatchObject({ delayMs: 1 });
    await world.clock.advance(1);
    expect(await inDoubt().run(world.reply("reply/1", "hi"))).toBe("m_1");
  });

  test("that the backup knows as begun waits for the lost process, which may have called later", async () => {
    lostRun = undefined;
    void (await run()).run(world.reply("reply/1", "hi", died));
    await world.underWay();
    lostRun = { ...longAgo, endedMsAgo: 5_000 };
    await expect((await again()).run(world.reply("reply/1", "hi"))).rejects.toMatchObject({
      code: "RETRY_LATER",
      delayMs: IN_FLIGHT - 5_000,
    });
  });

  test("that the platform refuses is not looked for again: nothing can have come of it", async () => {
    const refusal = new ApiError("too long", { status: 400 });
    const run1 = { run: () => Promise.reject(refusal) };
    await expect((await run()).run(world.reply("reply/1", "hi", run1))).rejects.toBe(refusal);
    world.send("hi");
    expect(await (await again()).run(world.reply("reply/1", "hi"))).toBe("m_2");
  });
});

describe("a custom step that is new to a restored inbox", () => {
  const parked = {
    code: "STEP_UNCERTAIN",
    message: expect.stringMatching(/restored from a backup.*"charge".*inbox retry 1 --assume done/),
  };

  test("parks the event, with the reason and the commands that settle it", async () => {
    await expect((await run()).run(world.own(() => 1))).rejects.toMatchObject(parked);
    await expect((await again()).run(world.own(() => 1))).rejects.toMatchObject(parked);
  });

  test("runs when it is repeatable", async () => {
    const own = world.own(() => 7, { repeatable: true });
    expect(await (await run()).run(own)).toBe(7);
  });

  test("runs once an operator has decided that it did not take effect, even after it fails then", async () => {
    await expect((await run()).run(world.own(() => 7))).rejects.toMatchObject(parked);
    await world.inbox.bury(world.claim, "uncertain");
    await world.inbox.admin.retry("1", { assume: "absent" });
    expect((await world.inbox.admin.show("1")).steps).toEqual([]);
    const failing = world.own(() => Promise.reject(new Error("no")));
    await expect((await run()).run(failing)).rejects.toThrow("no");
    expect(await (await again()).run(world.own(() => 7))).toBe(7);
  });

  test("returns undefined once an operator has decided that it did", async () => {
    await expect((await run()).run(world.own(() => 7))).rejects.toMatchObject(parked);
    await world.inbox.bury(world.claim, "uncertain");
    await world.inbox.admin.retry("1", { assume: "done" });
    expect(await (await run()).run(world.own(() => 7))).toBeUndefined();
  });

  test("is in doubt again when the process dies in it", async () => {
    lostRun = undefined;
    void (await run()).run(world.own(() => new Promise<never>(() => undefined)));
    await world.underWay();
    lostRun = longAgo;
    await expect((await again()).run(world.own(() => 7))).rejects.toMatchObject(parked);
  });
});

describe("a post that is not found", () => {
  const uncertain = new ServiceBotError("STEP_UNCERTAIN", "not in the feed");
  const post = (): Step<string> =>
    world.reply("post/1", "news", { find: () => Promise.reject(uncertain) });

  test("parks the event", async () => {
    await expect((await run()).run(post())).rejects.toBe(uncertain);
    expect(world.platform.size).toBe(0);
  });

  test("is made once an operator has decided that it was not", async () => {
    await expect((await run()).run(post())).rejects.toBe(uncertain);
    await world.inbox.bury(world.claim, "uncertain");
    await world.inbox.admin.retry("1", { assume: "absent" });
    expect(await (await run()).run(post())).toBe("m_1");
  });
});

test("what an earlier run recorded as done before the backup is not looked for", async () => {
  lostRun = undefined;
  await (await run()).run(world.reply("reply/1", "hi"));
  void inDoubt().run(world.reply("reply/2", "hi", died));
  await world.underWay();
  lostRun = longAgo;
  const steps = await again();
  const never = { find: () => Promise.reject(new Error("looked for")) };
  expect(await steps.run(world.reply("reply/1", "hi", never))).toBe("m_1");
});
