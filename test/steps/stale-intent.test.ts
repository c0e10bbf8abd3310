import { beforeEach, describe, expect, test } from "vitest";
import type { Inbox } from "../faces/inbox.ts";
import { died, IN_FLIGHT, LEASE, StepWorld } from "./step-world.ts";

let world: StepWorld;

beforeEach(async () => {
  world = new StepWorld();
  await world.put();
});

/** Suspends the process once, right after `method` has recorded the intent. */
function standsStill(
  method: "beginStep" | "restartStep",
  ms: number,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Inbox {
  let isFirst = true;
  return new Proxy<Inbox>(world.inbox, {
    get(inbox, name) {
      const value: unknown = Reflect.get(inbox, name);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        const result: unknown = await value.apply(inbox, given);
        if (name === method && isFirst) {
          isFirst = false;
          await world.clock.advance(ms);
          await meanwhile();
        }
        return result;
      };
    },
  });
}

/** Runs the handler in a new process, which is the next to claim the event. */
async function answerElsewhere(): Promise<void> {
  world.process = world.newProcess();
  const steps = await world.next();
  await steps.run(world.reply("reply", "hello"));
}

/** Crashes a run before it sends the reply, so the next run will not find the reply on the platform. */
async function dieBeforeSending(): Promise<void> {
  const steps = await world.begin();
  void steps.run(world.reply("reply", "hello", died));
  await world.underWay();
}

describe("a process that is suspended between a reply's intent and its request", () => {
  test("a stale step does not send once another owner has the event and has sent", async () => {
    await world.begin();
    const frozen = world.claim;
    const inbox = standsStill("beginStep", LEASE + IN_FLIGHT, answerElsewhere);
    const steps = world.runOf(frozen, { process: world.newProcess({ inbox }) });
    await expect(steps.run(world.reply("reply", "hello"))).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
    expect([...world.platform.values()]).toEqual(["hello"]);
  });

  test("sends it when the lease is still its own", async () => {
    await world.begin();
    const inbox = standsStill("beginStep", 5_000);
    const steps = world.runOf(world.claim, { process: world.newProcess({ inbox }) });
    await steps.run(world.reply("reply", "hello"));
    expect([...world.platform.values()]).toEqual(["hello"]);
  });

  test("does not make it again once another owner has made it again", async () => {
    await dieBeforeSending();
    await world.begin();
    const frozen = world.claim;
    const inbox = standsStill("restartStep", LEASE + IN_FLIGHT, answerElsewhere);
    const steps = world.runOf(frozen, { process: world.newProcess({ inbox }) });
    await expect(steps.run(world.reply("reply", "hello"))).rejects.toMatchObject({
      code: "LEASE_LOST",
    });
    expect([...world.platform.values()]).toEqual(["hello"]);
  });

  test("makes it again when the lease is still its own", async () => {
    await dieBeforeSending();
    await world.begin();
    const inbox = standsStill("restartStep", 5_000);
    const steps = world.runOf(world.claim, { process: world.newProcess({ inbox }) });
    await steps.run(world.reply("reply", "hello"));
    expect([...world.platform.values()]).toEqual(["hello"]);
  });
});
