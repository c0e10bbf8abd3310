import { beforeEach, describe, expect, test } from "vitest";
import { ApiError, NetworkError } from "../faces/client.ts";
import { RetryLater } from "../faces/errors.ts";
import type { Claim } from "../faces/inbox.ts";
import { message } from "../support/inbox-events.ts";
import { died, IN_FLIGHT, LEASE, type ReplyParts, StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(() => {
  world = new StepWorld();
});

/** The error of a request whose response never came. */
const silence = new NetworkError("API_TIMEOUT", "no answer", { sent: true });

/** Starts a run that dies inside its reply, and the next run in a new process. */
async function restarted(parts: ReplyParts): Promise<void> {
  await world.put();
  void (await world.begin()).run(world.reply("reply/1", "hi", parts));
  await world.underWay();
  world.process = world.newProcess();
}

/**
 * Repeats the handler in one process at the times that the step requests, as the dispatcher does. Returns the result,
 * and the ages of the intent at each search.
 */
async function repeat(parts: ReplyParts = {}, atSearch: (n: number) => void = () => undefined) {
  const begun = world.clock.now();
  const ages: number[] = [];
  const find: typeof world.find = async (intent) => {
    ages.push(world.clock.now() - begun);
    atSearch(ages.length);
    return await world.find(intent);
  };
  for (;;) {
    const end = (await world.again()).run(world.reply("reply/1", "hi", { find, ...parts }));
    const error: unknown = await end.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof RetryLater)) return { result: await end, ages };
    expect(error.counts).toBe(false);
    await world.clock.advance(error.delayMs);
  }
}

describe("after a process died in the middle of a reply, the next run", () => {
  test("adopts the reply at once if the platform has it", async () => {
    await restarted(world.diedAfterSending("hi"));
    expect(await repeat()).toEqual({ result: "m_1", ages: [0] });
    expect(world.platform.size).toBe(1);
  });

  test("searches three times before it concludes that the platform will never have it", async () => {
    await restarted(died);
    expect(await repeat()).toEqual({ result: "m_1", ages: [0, 3_000, IN_FLIGHT] });
    expect(world.platform.size).toBe(1);
  });

  test.each([2, 3])("finds a reply that arrives before its search %i", async (search) => {
    await restarted(died);
    const arrive = (n: number) => void (n === search && world.send("hi"));
    const { result, ages } = await repeat({}, arrive);
    expect(result).toBe("m_1");
    expect(ages).toHaveLength(search);
    expect(world.platform.size).toBe(1);
  });

  test("searches twice if the call is over before the usual second search", async () => {
    await restarted(died);
    expect((await repeat({ inFlightMs: 1_400 })).ages).toEqual([0, 1_400]);
  });

  test("waits for as long as the process that died gave its calls, even if the next one gives them less", async () => {
    const request = () => JSON.stringify({ text: "hi", imageCount: 0, inFlightMs: 61_000 });
    await restarted({ ...died, request });
    expect((await repeat()).ages).toEqual([0, 3_000, 61_000]);
  });

  test("concludes at once if the call is over", async () => {
    await restarted(died);
    await world.clock.advance(IN_FLIGHT);
    expect((await repeat()).ages).toEqual([0]);
  });

  test("does not park a post that the feed does not show yet", async () => {
    await restarted(died);
    const incomplete: ReplyParts = {
      find: async (intent) => ({ ...(await world.find(intent)), isComplete: false }),
    };
    await expect(repeat(incomplete)).rejects.toMatchObject({ code: "STEP_UNCERTAIN" });
    expect(world.clock.now()).toBe(world.claim.receivedAt + LEASE + IN_FLIGHT);
  });
});

/** Two steps with one text, in two lanes. The call of the first has no response after 10 s, when the second begins. */
async function exchanged() {
  await world.put("a", "b");
  const [older, newer] = await world.inbox.claim(2, 10 * LEASE);
  if (older === undefined || newer === undefined) throw new Error("two lanes were wanted");
  const sent = async () => {
    world.send("hi");
    throw silence;
  };
  const reply = (run: () => Promise<never>) => world.reply("comment/1", "hi", { run });
  await expect(world.runOf(older).run(reply(sent))).rejects.toBe(silence);
  await world.clock.advance(10_000);
  void world.runOf(newer).run(reply(died.run));
  await world.underWay();
  // The process is killed, and the next one runs the newer step first.
  world.process = world.newProcess();
  const run = (claim: Claim) => world.runOf(claim).run(world.reply("comment/1", "hi"));
  expect(await run(newer)).toBe("m_1");
  await world.clock.advance(1_000);
  return { older, newer, run };
}

describe("a step whose message another step has adopted while its own call was in progress", () => {
  test("takes that call's message, which arrives after the step's own call is over", async () => {
    const { older, run } = await exchanged();
    await expect(run(older)).rejects.toMatchObject({ delayMs: 10_000, counts: false });
    await world.clock.advance(9_999);
    world.send("hi");
    await expect(run(older)).resolves.toBe("m_2");
    expect(world.platform.size).toBe(2);
  });

  test("sends its own if that call's message never arrives", async () => {
    const { older, run } = await exchanged();
    await expect(run(older)).rejects.toMatchObject({ delayMs: 10_000 });
    await world.clock.advance(10_000);
    expect(await run(older)).toBe("m_2");
  });

  test("takes that call's message, even if a third step has adopted the step's own", async () => {
    const { older, run } = await exchanged();
    await world.inbox.put([message("3", "c")], "webhook");
    const [third] = await world.inbox.claim(1, 10 * LEASE);
    if (third === undefined) throw new Error("a third lane was wanted");
    const failed = new ApiError("failed after the effect", { status: 500 });
    const sent = async () => {
      world.send("hi");
      throw failed;
    };
    await expect(
      world.runOf(third).run(world.reply("comment/1", "hi", { run: sent })),
    ).rejects.toBe(failed);
    expect(await run(older)).toBe("m_2");
    // The first message is older than the third step, so that step's search does not find it.
    const find: typeof world.find = async (intent) => {
      const { same, ...rest } = await world.find(intent);
      return { ...rest, same: same.filter(({ ref }) => ref !== "m_1") };
    };
    const again = () => world.runOf(third).run(world.reply("comment/1", "hi", { find }));
    await expect(again()).rejects.toMatchObject({ delayMs: IN_FLIGHT, counts: false });
    world.send("hi");
    expect(await again()).toBe("m_3");
    expect(world.platform.size).toBe(3);
  });

  test("does not wait for steps that have sent their messages themselves", async () => {
    const { older, run } = await exchanged();
    await world.clock.advance(9_000);
    await world.inbox.put([message("3", "c")], "webhook");
    const [late] = await world.inbox.claim(1, LEASE);
    if (late === undefined) throw new Error("a third lane was wanted");
    expect(await run(late)).toBe("m_2");
    await world.clock.advance(1_000);
    expect(await run(older)).toBe("m_3");
  });
});
