import { beforeEach, describe, expect, test, vi } from "vitest";
import { gate } from "../dispatcher/harness.ts";
import { NetworkError } from "../faces/client.ts";
import type { Claim } from "../faces/inbox.ts";
import type { Intent } from "../faces/steps.ts";
import { IN_FLIGHT, LEASE, StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(() => {
  world = new StepWorld();
});

/** Creates two lanes. On each, an earlier process has recorded an intent. */
async function twoOpen(request = "welcome"): Promise<readonly Claim[]> {
  await world.put("a", "b");
  for (const claim of await world.inbox.claim(2, LEASE)) {
    await world.inbox.beginStep(claim, "comment/1", request);
    await world.inbox.release(claim, 0);
  }
  await world.clock.advance(IN_FLIGHT);
  return await world.inbox.claim(2, LEASE);
}

const onPost = (postId: string) => ({
  request: () => JSON.stringify({ text: "welcome", imageCount: 0, postId }),
});

/** Takes as long as a round trip, so that other runs can interleave between the read and the write. */
async function slowFind(intent: Intent): ReturnType<StepWorld["find"]> {
  const found = await world.find(intent);
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  return found;
}

describe("two events with one text for one post", () => {
  test("do not both take the comment that is there", async () => {
    world.send("welcome");
    const claims = await twoOpen();
    const results = await Promise.all(
      claims.map((claim) =>
        world.runOf(claim).run(world.reply("comment/1", "welcome", { find: slowFind })),
      ),
    );
    expect([...results].sort()).toEqual(["m_1", "m_2"]);
    expect(world.platform.size).toBe(2);
  });

  test("in two processes do not both take it either: who comes late looks anew", async () => {
    world.send("welcome");
    const claims = await twoOpen();
    const results = await Promise.all(
      claims.map((claim) => {
        const run = world.runOf(claim, { process: world.newProcess() });
        return run.run(world.reply("comment/1", "welcome", { find: slowFind }));
      }),
    );
    expect([...results].sort()).toEqual(["m_1", "m_2"]);
    expect(world.platform.size).toBe(2);
  });

  test("a step does not adopt a message that another step has not yet recorded", async () => {
    const [mine, other] = await twoOpen();
    if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
    const recording = gate();
    const { inbox } = world;
    const finish = inbox.finishStep.bind(inbox);
    vi.spyOn(inbox, "finishStep").mockImplementationOnce(async (...args) => {
      await recording.pass();
      return await finish(...args);
    });
    const sending = world.runOf(mine).run(world.reply("comment/2", "welcome"));
    await recording.entered;
    const looking = world.runOf(other).run(world.reply("comment/1", "welcome"));
    await world.underWay();
    recording.open();
    expect(await Promise.all([sending, looking])).toEqual(["m_1", "m_2"]);
  });

  test("a search is alone where the run before it has sent, wherever this one would", async () => {
    const [mine, other] = await twoOpen(onPost("p_1").request());
    if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
    const sending = gate();
    const run = async () => {
      const sent = world.send("welcome");
      await sending.pass();
      return sent;
    };
    const sends = { ...onPost("p_1"), run };
    const first = world.runOf(mine).run(world.reply("comment/2", "welcome", sends));
    await sending.entered;
    const second = world.runOf(other).run(world.reply("comment/1", "welcome", onPost("p_2")));
    await world.underWay();
    sending.open();
    expect(await Promise.all([first, second])).toEqual(["m_1", "m_2"]);
  });

  test("at different places do not wait for each other", async () => {
    const [mine, other] = await twoOpen();
    if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
    const sending = gate();
    const run = async () => {
      await sending.pass();
      return world.send("welcome");
    };
    const slow = world.runOf(mine).run(world.reply("comment/2", "welcome", { run }));
    await sending.entered;
    const quick = world.runOf(other).run(world.reply("comment/2", "welcome", onPost("p_2")));
    expect(await quick).toBe("m_1");
    sending.open();
    expect(await slow).toBe("m_2");
  });
});

test("an intent is not recorded before its turn: its time is that of the call", async () => {
  await world.put("a", "b");
  const [mine, other] = await world.inbox.claim(2, LEASE);
  if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
  const sending = gate();
  const error = new NetworkError("API_TIMEOUT", "no answer", { sent: true });
  const run = async () => {
    await sending.pass();
    throw error;
  };
  const first = world.runOf(mine).run(world.reply("comment/1", "welcome", { run }));
  const refused = expect(first).rejects.toBe(error);
  await sending.entered;
  const begun = vi.spyOn(world.inbox, "beginStep");
  const second = world.runOf(other).run(world.reply("comment/1", "welcome"));
  await world.underWay();
  expect(begun).not.toHaveBeenCalled();
  // A failure also releases the claim.
  sending.open();
  await refused;
  expect(await second).toBe("m_1");
});

test("a run that was aborted before its turn does nothing", async () => {
  await world.put("a", "b");
  const [mine, other] = await world.inbox.claim(2, LEASE);
  if (mine === undefined || other === undefined) throw new Error("two lanes were wanted");
  const sending = gate();
  const run = async () => {
    await sending.pass();
    return world.send("welcome");
  };
  const first = world.runOf(mine).run(world.reply("comment/1", "welcome", { run }));
  await sending.entered;
  const abort = new AbortController();
  const second = world.runOf(other, { signal: abort.signal });
  const refused = expect(second.run(world.reply("comment/1", "welcome"))).rejects.toThrow(
    "stopped",
  );
  abort.abort(new Error("stopped"));
  sending.open();
  await refused;
  await first;
  expect(world.platform.size).toBe(1);
  expect(await world.inbox.beginStep(other, "comment/1", "")).toEqual({ state: "new" });
});

test("of 10,001 calls the one remembered first is forgotten, so that they do not pile up", () => {
  const { process: calls } = world;
  for (let i = 0; i <= 10_000; i++) calls.rememberEnd(String(i), "reply/1", i);
  expect(calls.endOf("0", "reply/1")).toBe(Number.POSITIVE_INFINITY);
  expect(calls.endOf("1", "reply/1")).toBe(1);
  expect(calls.endOf("10000", "reply/1")).toBe(10_000);
});

test("a place is free again after a failure, and turns come in order", async () => {
  const { process: calls } = world;
  const order: number[] = [];
  const turns = [1, 2, 3].map((turn) =>
    calls.alone(
      "post:p_1",
      async () => {
        order.push(turn);
        await Promise.resolve();
        order.push(turn);
        if (turn === 1) throw new Error("failed");
      },
      () => undefined,
    ),
  );
  const settled = await Promise.allSettled(turns);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual([1, 1, 2, 2, 3, 3]);
});
